import 'zone.js';
import { Component, provideZoneChangeDetection } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { provideRouter, RouterLink, RouterLinkActive, RouterOutlet, withComponentInputBinding } from '@angular/router';

@Component({
  selector: 'app-root',
  imports: [RouterLink, RouterLinkActive, RouterOutlet],
  template: `<nav>
      <a routerLink="/" routerLinkActive="on">all</a>
      <a [routerLink]="['/category', 'books']" [queryParams]="{ page: 1 }" data-act="books">books</a>
    </nav>
    <router-outlet />`,
})
class App {}

bootstrapApplication(App, {
  providers: [
    provideZoneChangeDetection({ eventCoalescing: true }),
    provideRouter(
      [
        { path: '', loadComponent: () => import('./list').then((module) => module.List) },
        { path: 'category/:category', loadComponent: () => import('./list').then((module) => module.List) },
        { path: 'torrent/:id', loadComponent: () => import('./torrent').then((module) => module.TorrentPage) },
      ],
      withComponentInputBinding(),
    ),
  ],
});
