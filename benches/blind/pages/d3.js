import 'd3-transition';
import * as d3 from 'd3';

d3.json('/api/torrents?per=60').then(({ items }) => {
  const table = d3.select('#app').append('table');
  const scale = d3.scaleLinear().domain(d3.extent(items, (item) => item.seeders)).range([0, 100]);
  const row = table
    .selectAll('tr')
    .data(d3.sort(items, (item) => -item.seeders), (item) => item.id)
    .join('tr');
  row.append('td').append('a').attr('href', (item) => item.url).text((item) => item.name);
  row.append('td').append('svg').attr('width', 100).append('rect').transition().attr('width', (item) => scale(item.seeders));
});
