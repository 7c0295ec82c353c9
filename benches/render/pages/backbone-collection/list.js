(function () {
  var Torrents = Backbone.Collection.extend({
    url: '/api/torrents',
    parse: function (data) {
      return data.items;
    },
  });
  var Row = Backbone.View.extend({
    tagName: 'li',
    template: _.template($('#row').html()),
    events: { 'click [data-act=select]': 'select' },
    initialize: function () {
      this.listenTo(this.model, 'change', this.render);
    },
    select: function () {
      this.model.set({ url: this.model.get('url') + '?marked' });
    },
    render: function () {
      this.$el.html(this.template(this.model.toJSON()));
      return this;
    },
  });
  var List = Backbone.View.extend({
    el: 'body',
    page: 0,
    events: { 'click [data-act=next]': 'next' },
    initialize: function () {
      this.collection = new Torrents();
      this.listenTo(this.collection, 'sync', this.render);
      this.next();
    },
    next: function () {
      this.collection.fetch({ data: { page: ++this.page }, reset: true });
    },
    render: function () {
      this.$('#rows').html(this.collection.map(function (model) {
        return new Row({ model: model }).render().el;
      }));
    },
  });
  new List();
})();
