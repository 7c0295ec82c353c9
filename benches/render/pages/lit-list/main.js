import { css, html, LitElement } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

class TorrentList extends LitElement {
  static properties = { per: { type: Number }, page: { state: true }, items: { state: true } };
  static styles = css`:host { display: block } a { color: navy }`;

  constructor() {
    super();
    this.page = 1;
    this.items = [];
  }

  willUpdate(changed) {
    if (changed.has('page')) this.load();
  }

  async load() {
    this.items = (await (await fetch(`/api/torrents?per=${this.per}&page=${this.page}`)).json()).items;
  }

  render() {
    return html`<slot></slot>
      <ul>${repeat(this.items, (item) => item.id, (item) => html`<li><a href="${item.url}/${item.slug}">${item.name}</a></li>`)}</ul>
      <button data-act="next" ?disabled=${this.items.length === 0} @click=${() => (this.page += 1)}>next</button>`;
  }
}
customElements.define('torrent-list', TorrentList);
