const get = (path) => fetch(path).then((answer) => (path.endsWith('.html') ? answer.text() : answer.json()));
async function show(query) {
  const [template, data] = await Promise.all([get('row.html'), get('/api/torrents?per=40' + query)]);
  Mustache.parse(template);
  $('#out').html(Mustache.render(template, { ...data, popular: () => function (text, render) { return `<b>${render(text)}</b>`; } }));
}
$('[data-act=sort]').on('click', () => show('&sort=seeders'));
show('');
