import { html, LitElement } from 'lit';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { until } from 'lit/directives/until.js';

const api = async (path) => (await fetch(path)).json();

class Fetched {
  constructor(host, path) {
    this.value = [];
    this.path = path;
    this.host = host;
    host.addController(this);
  }
  hostConnected() {
    api(this.path).then((value) => {
      this.value = value;
      this.host.requestUpdate();
    });
  }
}

customElements.define('torrent-row', class extends LitElement {
  static properties = { item: { attribute: false } };
  render() {
    return html`<a href=${this.item.url}>${this.item.name}</a>
      ${until(api(`/api/key?id=${this.item.id}`).then(({ key }) => html`<a href="${this.item.download}?key=${key}">get</a>`), 'wait')}`;
  }
});

customElements.define('torrent-tabs', class extends LitElement {
  categories = new Fetched(this, '/api/categories');
  choose(name) {
    this.dispatchEvent(new CustomEvent('choose', { detail: name, bubbles: true, composed: true }));
  }
  render() {
    return this.categories.value.map((name, at) => html`<button data-act="tab-${at}" @click=${() => this.choose(name)}>${unsafeHTML(`<i>${name}</i>`)}</button>`);
  }
});

customElements.define('torrent-app', class extends LitElement {
  static properties = { items: { state: true } };
  connectedCallback() {
    super.connectedCallback();
    this.items = [];
    this.show('');
  }
  async show(category) {
    this.items = await api(`/api/array?per=8&category=${category}`);
  }
  render() {
    return html`<torrent-tabs @choose=${(event) => this.show(event.detail)}></torrent-tabs>
      ${this.items.map((item) => html`<torrent-row .item=${item}></torrent-row>`)}`;
  }
});
