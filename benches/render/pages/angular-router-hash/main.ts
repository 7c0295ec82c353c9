import 'zone.js';
import { CommonModule } from '@angular/common';
import { HttpClient, provideHttpClient, withXhr } from '@angular/common/http';
import { ChangeDetectionStrategy, Component, inject, NgModule, provideZoneChangeDetection } from '@angular/core';
import { FormsModule } from '@angular/forms';
import { BrowserModule, platformBrowser } from '@angular/platform-browser';
import { ActivatedRoute, RouterModule } from '@angular/router';
import { switchMap } from 'rxjs';

@Component({
  standalone: false,
  changeDetection: ChangeDetectionStrategy.Eager,
  template: `<form (ngSubmit)="search()"><input name="q" [(ngModel)]="words" /><button data-act="search">search</button></form>
    <ng-container *ngIf="items.length; else empty">
      <div *ngFor="let item of items; trackBy: byId; let odd = odd" [ngClass]="{ odd: odd }">
        <a [href]="item.url">{{ item.name | titlecase }}</a>
      </div>
    </ng-container>
    <ng-template #empty>loading</ng-template>`,
})
class List {
  private http = inject(HttpClient);
  items: { id: number; url: string; name: string }[] = [];
  words = 'river';

  constructor() {
    inject(ActivatedRoute).params.pipe(switchMap(({ page }) => this.http.get<any>(`/api/torrents?page=${page}`))).subscribe((data) => (this.items = data.items));
  }

  byId = (index: number, item: { id: number }) => item.id;
  search() {
    this.http.get<any>('/api/torrents', { params: { q: this.words, per: 50 } }).subscribe((data) => (this.items = data.items));
  }
}

@Component({ selector: 'app-root', standalone: false, template: '<a routerLink="/list/2">second</a><router-outlet></router-outlet>' })
class App {}

@NgModule({
  declarations: [App, List],
  imports: [BrowserModule, CommonModule, FormsModule, RouterModule.forRoot([{ path: '', pathMatch: 'full', redirectTo: 'list/1' }, { path: 'list/:page', component: List, canActivate: [() => true] }], { useHash: true })],
  providers: [provideHttpClient(withXhr()), provideZoneChangeDetection()],
  bootstrap: [App],
})
class AppModule {}

platformBrowser().bootstrapModule(AppModule);
