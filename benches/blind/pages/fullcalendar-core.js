import { Calendar } from '@fullcalendar/core';
import list from '@fullcalendar/list';
import { rows } from '../rows.js';

new Calendar(document.getElementById('app'), {
  plugins: [list],
  initialView: 'listYear',
  initialDate: '2026-11-20',
  timeZone: 'UTC',
  events: async () => (await rows()).map((item) => ({ title: item.name, start: item.added, url: item.url })),
}).render();
