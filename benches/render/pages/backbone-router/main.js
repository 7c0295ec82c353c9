import Backbone from 'backbone';
import $ from 'jquery';
import _ from 'underscore';

Backbone.$ = $;
const row = _.template('<p><a href="#torrent/<%= id %>"><%- name %></a></p>');

const Router = Backbone.Router.extend({
  routes: { '': 'list', 'list/:page': 'list', 'category/:name': 'category', 'torrent/:id': 'torrent' },
  show(query) {
    $.getJSON(`/api/array?${query}`, (items) => $('#app').html(_.map(items, row).join('')));
  },
  list(page) {
    this.show($.param({ page: page || 1 }));
  },
  category(name) {
    this.show($.param({ category: name }));
  },
  torrent(id) {
    $('#app').html($('<a>', { href: `/download/${id}.torrent`, html: 'download' }));
  },
});

const router = new Router();
$('[data-act=category]').on('click', () => router.navigate('category/books', { trigger: true }));
Backbone.history.start();
