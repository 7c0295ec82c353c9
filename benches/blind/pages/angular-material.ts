import { HttpClient, provideHttpClient } from '@angular/common/http';
import { Component, inject, provideZonelessChangeDetection, signal } from '@angular/core';
import { MatTableModule } from '@angular/material/table';
import { MatTabsModule } from '@angular/material/tabs';
import { bootstrapApplication } from '@angular/platform-browser';

interface Torrent { id: number; name: string; url: string; seeders: number; }

@Component({
  selector: '.app',
  imports: [MatTableModule, MatTabsModule],
  template: `
    <mat-tab-group>
      <mat-tab label="New">
        <table mat-table [dataSource]="items()">
          <ng-container matColumnDef="name"><th mat-header-cell *matHeaderCellDef>Name</th><td mat-cell *matCellDef="let item"><a [href]="item.url">{{ item.name }}</a></td></ng-container>
          <ng-container matColumnDef="seeders"><th mat-header-cell *matHeaderCellDef>Seeders</th><td mat-cell *matCellDef="let item">{{ item.seeders }}</td></ng-container>
          <tr mat-header-row *matHeaderRowDef="['name', 'seeders']"></tr>
          <tr mat-row *matRowDef="let row; columns: ['name', 'seeders']"></tr>
        </table>
      </mat-tab>
    </mat-tab-group>`,
})
class App {
  items = signal<Torrent[]>([]);

  constructor() {
    inject(HttpClient).get<{ items: Torrent[] }>('/api/torrents', { params: { per: 60 } }).subscribe((data) => this.items.set(data.items));
  }
}

bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), provideHttpClient()] });
