import { Application, Controller } from '@hotwired/stimulus';

const application = Application.start();
application.register('list', class extends Controller {
  static targets = ['rows'];
  static values = { url: String, page: Number };
  connect() {
    this.more();
  }
  async more() {
    this.pageValue += 1;
    const rows = await (await fetch(`${this.urlValue}?per=15&page=${this.pageValue}`)).text();
    this.rowsTarget.insertAdjacentHTML('beforeend', rows);
    this.rowsTarget.lastElementChild.dataset.controller = 'last';
  }
});
application.register('last', class extends Controller {
  connect() {
    const link = document.createElement('a');
    link.href = `/permalink/${this.element.id}`;
    link.textContent = 'permalink';
    this.element.lastElementChild.append(link);
  }
});
