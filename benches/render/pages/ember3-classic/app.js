(function () {
  var compile = Ember.HTMLBars.compile;
  var App = Ember.Application.create({ rootElement: '#app' });
  App.Router = Ember.Router.extend({ location: 'hash' });
  App.Router.map(function () {
    this.route('list', { path: '/list/:page' });
    this.route('torrent', { path: '/torrent/:id' });
  });
  function json(path) {
    return new Ember.RSVP.Promise(function (resolve, reject) {
      fetch(path).then(function (answer) { return answer.json(); }).then(resolve, reject);
    });
  }
  App.IndexRoute = Ember.Route.extend({
    beforeModel: function () {
      this.replaceWith('list', 1);
    },
  });
  App.ListRoute = Ember.Route.extend({
    model: function (params) {
      return json('/api/torrents?page=' + params.page).then(function (data) {
        data.following = data.page + 1;
        return data;
      });
    },
  });
  App.TorrentRoute = Ember.Route.extend({
    model: function (params) {
      return { href: '/download/' + params.id + '.torrent' };
    },
  });
  Ember.TEMPLATES.list = compile(
    '<ul>{{#each this.model.items key="id" as |item|}}<li>{{#link-to route="torrent" model=item.id}}{{item.name}}{{/link-to}} <a href={{item.magnet}}>magnet</a></li>{{/each}}</ul>' +
      '<LinkTo @route="list" @model={{this.model.following}} data-act="next">next</LinkTo>',
  );
  Ember.TEMPLATES.torrent = compile('<a href={{this.model.href}}>download</a>');
})();
