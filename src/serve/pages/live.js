// Without this script everything can be read and done. With it: pages refresh as things happen, `/` goes to the search, buttons copy.
(() => {
  const d = document, root = d.documentElement;
  root.classList.add('js');
  d.addEventListener('keydown', e => {
    if (e.key !== '/' || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    const field = d.querySelector('[data-search]');
    if (field) { e.preventDefault(); field.focus(); field.select(); }
  });
  d.addEventListener('click', async e => {
    const button = e.target.closest('[data-copy]');
    if (!button) return;
    const text = button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = d.createElement('textarea');
      area.value = text;
      d.body.append(area);
      area.select();
      d.execCommand('copy');
      area.remove();
      button.focus();
    }
    const was = button.textContent;
    button.textContent = 'copied';
    setTimeout(() => { button.textContent = was; }, 1200);
  });
  // Ages and countdowns go on as the server writes them: `words::span`.
  const made = d.getElementById('now'), skew = made ? Date.parse(made.textContent) - Date.now() : 0;
  const span = s => {
    const [v, u] = s < 120 ? [s, 's'] : s < 7200 ? [s / 60, 'min'] : s < 172800 ? [s / 3600, 'h'] : [s / 86400, 'd'];
    return v.toFixed(v < 10 && s >= 7200 && v % 1 >= .05 ? 1 : 0) + ' ' + u;
  };
  if (made) setInterval(() => {
    for (const time of d.querySelectorAll('time[datetime]')) {
      const s = (Date.now() + skew - Date.parse(time.dateTime)) / 1000;
      const text = s < 0 ? `in ${span(-s)}` : s < 2 ? 'now' : `${span(s)} ago`;
      if (time.textContent !== text) time.textContent = text;
    }
  }, 1000);
  const filter = d.querySelector('[data-filter]');
  if (filter) filter.addEventListener('input', () => {
    const wanted = filter.value.toLowerCase();
    for (const row of d.querySelectorAll('[data-row]')) row.hidden = !row.dataset.row.toLowerCase().includes(wanted);
    if (wanted) for (const part of d.querySelectorAll('.tree details')) part.open = true;
  });
  const events = d.body.dataset.events;
  if (!events || !d.querySelector('[data-live]') || !window.EventSource) return;
  const least = 5000;
  let last = Date.now(), timer = 0, tag = '';
  const refresh = async () => {
    timer = 0;
    if (d.hidden) { last = 0; return; }
    last = Date.now();
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html', 'if-none-match': tag } });
      if (!answer.ok) return; // 304 too
      tag = answer.headers.get('etag') ?? '';
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      for (const old of d.querySelectorAll('[data-live]')) {
        const now = fresh.getElementById(old.id);
        // What somebody is at is left alone.
        if (!now || old.contains(d.activeElement) || now.innerHTML === old.innerHTML) continue;
        const chosen = getSelection();
        if (chosen && !chosen.isCollapsed && old.contains(chosen.anchorNode)) continue;
        const open = [...old.querySelectorAll('details[open][id]')].map(one => one.id);
        old.replaceWith(d.adoptNode(now));
        for (const id of open) { const one = d.getElementById(id); if (one) one.open = true; }
      }
    } catch { /* the next event tries again */ }
  };
  // All open pages at the same moments: the server makes each once.
  const due = () => { if (!timer) timer = setTimeout(refresh, last ? least - Date.now() % least : 200); };
  const source = new EventSource(events);
  for (const kind of ['torrent', 'sites', 'log', 'alarm']) source.addEventListener(kind, due);
  source.onopen = () => { root.classList.add('listens'); due(); };
  source.onerror = () => root.classList.remove('listens');
  d.addEventListener('visibilitychange', () => { if (!d.hidden && !last) due(); });
})();
