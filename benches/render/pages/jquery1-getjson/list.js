var page = 1;
function show() {
  $.getJSON('/api/torrents', { page: page }, function (data) {
    var rows = '';
    $.each(data.items, function (i, item) {
      rows += '<tr class="' + (i % 2 ? 'odd' : 'even') + '"><td><a href="' + item.url + '">' + item.name + '</a></td><td>' +
        item.seeders + '</td><td><a href="' + item.download + '" title="get">get</a></td></tr>';
    });
    $('#torrents tbody').html(rows);
  });
}
$(function () {
  show();
  $('[data-act=next]').click(function () {
    page++;
    show();
    return false;
  });
});
