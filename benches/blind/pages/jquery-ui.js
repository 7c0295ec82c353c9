import $ from 'jquery';
import { rows } from '../rows.js';

window.jQuery = window.$ = $;
import('jquery-ui/dist/jquery-ui.js').then(rows).then((items) => {
  const list = $('<div>').append(items.map((item) => $('<h3>').text(item.id).add($('<div>').append($('<a>', { href: item.url, text: item.name })))).flatMap((pair) => pair.get()));
  $('#app').append($('<div id="tabs"><ul><li><a href="#new">New</a></li><li><a href="/fragment/table">Top</a></li></ul><div id="new"></div></div>'));
  $('#new').append(list);
  list.accordion({ heightStyle: 'content' });
  $('#tabs').tabs({ active: 1 });
  $('<ul>').append(items.map((item) => $('<li>').append($('<a>', { href: item.magnet, text: item.id }))[0])).appendTo('#app').menu();
});
