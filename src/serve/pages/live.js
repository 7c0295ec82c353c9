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
  const filter = d.querySelector('[data-filter]');
  if (filter) filter.addEventListener('input', () => {
    const wanted = filter.value.toLowerCase();
    for (const row of d.querySelectorAll('[data-row]')) row.hidden = !row.dataset.row.toLowerCase().includes(wanted);
    if (wanted) for (const part of d.querySelectorAll('.tree details')) part.open = true;
  });
  const events = d.body.dataset.events;
  if (!events || !d.querySelector('[data-live]') || !window.EventSource) return;
  const least = 5000;
  let last = Date.now(), timer = 0;
  const refresh = async () => {
    timer = 0;
    if (d.hidden) { last = 0; return; }
    last = Date.now();
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      if (!answer.ok) return;
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
  const due = () => { if (!timer) timer = setTimeout(refresh, Math.max(200, last + least - Date.now())); };
  const source = new EventSource(events);
  for (const kind of ['torrent', 'sites', 'log']) source.addEventListener(kind, due);
  source.onopen = () => root.classList.add('listens');
  source.onerror = () => root.classList.remove('listens');
  d.addEventListener('visibilitychange', () => { if (!d.hidden && !last) due(); });
})();
