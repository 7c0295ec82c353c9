jQuery(function ($) {
  function fill($panel) {
    if ($panel.data('filled')) return $.Deferred().resolve().promise();
    return $.get('/api/torrents', { category: $panel.data('category') }).then(function (data) {
      var $list = $('<ol/>');
      $.map(data.items, function (item) {
        var $row = $('<li/>').attr('data-id', item.id);
        $('<a/>').attr('href', '/torrent/' + item.id + '/' + item.slug).text(item.name).appendTo($row);
        $('<span/>').css({ color: 'gray', marginLeft: 4 }).text(item.seeders).appendTo($row);
        $list.append($row);
      });
      $panel.empty().append($list).data('filled', true);
    });
  }
  function open(index) {
    var $panel = $('.panel').eq(index);
    fill($panel).done(function () {
      $('.panel.active').removeClass('active').hide();
      $panel.addClass('active').fadeIn(100);
      $('#tabs li').removeClass('current').eq(index).addClass('current');
    });
  }
  $.when($.getJSON('/api/categories'), $.ready).done(function (answer) {
    $.each(answer[0], function (index, category) {
      $('<li><a href="#"></a></li>').find('a').text(category).attr('data-act', 'tab-' + index).end().appendTo('#tabs');
      $('<div class="panel"/>').data('category', category).appendTo('#panels');
    });
    $('#tabs').on('click', 'a', function (event) {
      event.preventDefault();
      open($(this).parent().index());
    });
    open(0);
  });
});
