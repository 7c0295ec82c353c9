import ko from 'knockout';

ko.options.deferUpdates = true;
ko.components.register('torrent-list', {
  viewModel: class {
    constructor({ page }) {
      this.items = ko.observableArray([]);
      this.watch = ko.computed(async () => this.items((await (await fetch(`/api/torrents?page=${page()}`)).json()).items));
    }
    dispose() {
      this.watch.dispose();
    }
  },
  template: '<ul data-bind="template: { name: \'row\', foreach: items }"></ul>',
});
ko.components.register('torrent-pager', {
  viewModel: { createViewModel: ({ page, pages }) => ({ page, numbers: Array.from({ length: pages }, (_, at) => at + 1) }) },
  template: `<!-- ko foreach: numbers --><a data-bind="text: $data, attr: { href: '#page-' + $data, 'data-act': 'page-' + $data },
    click: () => $parent.page($data)"></a><!-- /ko -->`,
});
ko.applyBindings({ page: ko.observable(1) });
