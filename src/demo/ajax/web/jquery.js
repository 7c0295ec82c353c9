// A list as sites with jQuery write theirs.
$(document).ready(function () {
  var $rows = $('#rows'), $pagination = $('.pagination');
  var start = parseInt((window.location.search.match(/start=(\d+)/) || [])[1] || 0, 10);

  function fail(xhr, status) {
    $('.alert').text('The list cannot be loaded: ' + status).show();
  }

  function pager(total, count) {
    $pagination.empty();
    $.each({ First: 0, Previous: start - count, Next: start + count }, function (label, at) {
      if (at >= 0 && at < total && at !== start) {
        $('<a>').attr('href', '?start=' + at).addClass(label.toLowerCase()).text(label).appendTo($('<li>').appendTo($pagination));
      }
    });
  }

  $.ajax({ url: '/jquery/config.json', dataType: 'json', cache: false }).done(function (config) {
    $.getJSON('/jquery/list.json', { start: start, count: config.count }, function (list) {
      $.each(list.rows, function (i, row) {
        var $row = $('<tr>').data('id', row.id).appendTo($rows);
        $('<td>').text(row.title).appendTo($row);
        $('<td>').text(row.size).appendTo($row);
        $('<td>').append('<a class="get" href="' + row.get + '">Download</a>').appendTo($row);
      });
      $rows.find('tr').each(function (i) {
        $(this).addClass(i % 2 ? 'odd' : 'even');
      });
      pager(list.total, config.count);
    }).fail(fail);
  }).fail(fail);

  $rows.on('click', 'td', function () {
    $(this).closest('tr').addClass('selected');
  });
});
