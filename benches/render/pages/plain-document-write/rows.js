document.write('<ul>');
for (var i = 0; i < 30; i++) {
  document.write('<li><a href="/torrent/' + names[i] + '">' + names[i].toUpperCase() + '</a>');
}
document.write('</ul>');
