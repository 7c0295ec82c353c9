import { Component, Input } from '@angular/core';

@Component({ selector: 'torrent-page', template: '<a href="/download/{{ id }}.torrent">download</a>' })
export class TorrentPage {
  @Input() id = '';
}
