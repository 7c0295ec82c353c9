import $ from 'jquery';

const $more = $('[data-act=more]');
let offset = 0;

async function more() {
  const { items, total } = await $.ajax('/api/torrents', { data: { offset, per: 20 } });
  const $prototype = $('.prototype').first();
  for (const item of items) {
    const $row = $prototype.clone(true).removeClass('prototype').prop('hidden', false);
    $row.find('.name').text(item.name).wrap($('<a>').attr('href', `/torrent/${item.id}`));
    $row.find('.size').text(`${Math.round(item.bytes / 1024)} KiB`);
    $row.appendTo('#rows');
  }
  offset += items.length;
  $more.toggle(offset < total);
}

$more.on('click.pager', more);
more();
