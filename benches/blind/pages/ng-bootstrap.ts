import '@angular/localize/init';
import { HttpClient, provideHttpClient } from '@angular/common/http';
import { Component, inject, provideZonelessChangeDetection, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { NgbAccordionModule, NgbNavModule, NgbPagination } from '@ng-bootstrap/ng-bootstrap';

interface Torrent { id: number; name: string; url: string; magnet: string; }

@Component({
  selector: '.app',
  imports: [NgbAccordionModule, NgbNavModule, NgbPagination],
  template: `
    <ul ngbNav #nav="ngbNav" class="nav-tabs">
      <li [ngbNavItem]="1"><button ngbNavLink>New</button><ng-template ngbNavContent>
        <div ngbAccordion>
          @for (item of items(); track item.id) {
            <div ngbAccordionItem [collapsed]="item.id > 30">
              <h2 ngbAccordionHeader><button ngbAccordionButton>{{ item.id }}</button><a [href]="item.url">{{ item.name }}</a></h2>
              <div ngbAccordionCollapse><div ngbAccordionBody><ng-template><a [href]="item.magnet">magnet</a></ng-template></div></div>
            </div>
          }
        </div>
      </ng-template></li>
      <li [ngbNavItem]="2"><button ngbNavLink>Top</button><ng-template ngbNavContent><a href="/top">top</a></ng-template></li>
    </ul>
    <div [ngbNavOutlet]="nav"></div>
    <ngb-pagination [collectionSize]="100" [page]="1" [pageSize]="60" />`,
})
class App {
  items = signal<Torrent[]>([]);

  constructor() {
    inject(HttpClient).get<{ items: Torrent[] }>('/api/torrents', { params: { per: 60 } }).subscribe((data) => this.items.set(data.items));
  }
}

bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), provideHttpClient()] });
