import { DecimalPipe } from '@angular/common';
import { HttpClient, provideHttpClient } from '@angular/common/http';
import { Component, computed, effect, inject, input, provideZonelessChangeDetection, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';

interface Torrent {
  id: number;
  name: string;
  url: string;
  magnet: string;
  bytes: number;
  seeders: number;
}

@Component({
  selector: '[torrentRow]',
  imports: [DecimalPipe],
  template: `<td><a [href]="item().url" [attr.title]="item().name">{{ item().name }}</a></td>
    <td>{{ item().bytes / 1024 | number: '1.0-1' }}</td>
    <td><a [href]="item().magnet">magnet</a></td>`,
})
class Row {
  item = input.required<Torrent>({ alias: 'torrentRow' });
}

@Component({
  selector: 'app-root',
  imports: [Row],
  template: `
    <table>
      @for (item of sorted(); track item.id) {
        <tr [torrentRow]="item" [class.odd]="$odd"></tr>
      } @empty {
        <tr><td>loading</td></tr>
      }
    </table>
    @if (page() < 4) {
      <button data-act="next" (click)="page.set(page() + 1)">next</button>
    }
    <button data-act="sort" (click)="bySeeders.set(!bySeeders())">sort</button>`,
  styles: '.odd { background: #eee }',
})
class App {
  private http = inject(HttpClient);
  page = signal(1);
  bySeeders = signal(false);
  items = signal<Torrent[]>([]);
  sorted = computed(() => (this.bySeeders() ? [...this.items()].sort((a, b) => b.seeders - a.seeders).slice(0, 10) : this.items()));

  constructor() {
    effect(() => this.http.get<{ items: Torrent[] }>('/api/torrents', { params: { page: this.page() } }).subscribe((data) => this.items.set(data.items)));
  }
}

bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), provideHttpClient()] });
