import { fn } from '@ember/helper';
import { on } from '@ember/modifier';
import { renderComponent } from '@ember/renderer';
import { template } from '@ember/template-compiler';
import { tracked } from '@glimmer/tracking';
import Component from '@glimmer/component';

const Row = template('<li><a href={{@item.url}} title={{@item.name}}>{{@item.name}}</a>{{#if @item.seeders}} <a href={{@item.magnet}}>magnet</a>{{/if}}</li>');

class List extends Component {
  @tracked items = [];
  pages = [1, 2, 3, 4];

  constructor(owner, args) {
    super(owner, args);
    this.show(1);
  }

  show = async (page) => {
    this.items = (await (await fetch(`/api/torrents?page=${page}`)).json()).items;
  };

  static {
    template(
      `<ul>{{#each this.items key="id" as |item|}}<Row @item={{item}} />{{else}}<li><a href="/none">nothing</a></li>{{/each}}</ul>
      {{#each this.pages as |page|}}<button type="button" data-act="page-{{page}}" {{on "click" (fn this.show page)}}>{{page}}</button>{{/each}}`,
      { component: this, strictMode: true, scope: () => ({ Row, fn, on }) },
    );
  }
}

renderComponent(List, { into: document.getElementById('app') });
