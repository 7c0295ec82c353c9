import { HttpClient, provideHttpClient } from '@angular/common/http';
import { Component, inject, provideZonelessChangeDetection, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import Aura from '@primeuix/themes/aura';
import { providePrimeNG } from 'primeng/config';
import { TableModule } from 'primeng/table';

interface Torrent { id: number; name: string; url: string; seeders: number; }

@Component({
  selector: '.app',
  imports: [TableModule],
  template: `
    <p-table [value]="items()" [paginator]="true" [rows]="50">
      <ng-template #header><tr><th pSortableColumn="name">Name <p-sort-icon field="name" /></th><th>Seeders</th></tr></ng-template>
      <ng-template #body let-item><tr><td><a [href]="item.url">{{ item.name }}</a></td><td>{{ item.seeders }}</td></tr></ng-template>
    </p-table>`,
})
class App {
  items = signal<Torrent[]>([]);

  constructor() {
    inject(HttpClient).get<{ items: Torrent[] }>('/api/torrents', { params: { per: 60 } }).subscribe((data) => this.items.set(data.items));
  }
}

bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), provideHttpClient(), providePrimeNG({ theme: { preset: Aura } })] });
