import { AsyncPipe } from '@angular/common';
import { ChangeDetectionStrategy, Component, Input, OnChanges } from '@angular/core';
import { RouterLink } from '@angular/router';
import { from, map, Observable } from 'rxjs';

interface Torrent {
  id: number;
  name: string;
}

@Component({
  selector: 'torrent-list',
  imports: [AsyncPipe, RouterLink],
  changeDetection: ChangeDetectionStrategy.OnPush,
  template: `@if (items | async; as found) {
      <ul>
        @for (item of found; track item.id) {
          <li><a [routerLink]="['/torrent', item.id]">{{ item.name }}</a></li>
        }
      </ul>
    }
    <a routerLink="." [queryParams]="{ page: +page + 1 }" data-act="next">next</a>`,
})
export class List implements OnChanges {
  @Input() category = '';
  @Input() page = '1';
  items?: Observable<Torrent[]>;

  ngOnChanges() {
    this.page ??= '1';
    const answer = fetch(`/api/torrents?per=12&page=${this.page}&category=${this.category ?? ''}`).then((answer) => answer.json());
    this.items = from(answer).pipe(map((data) => data.items));
  }
}
