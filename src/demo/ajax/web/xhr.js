// A list as it was written before there were libraries: one XMLHttpRequest, rows by the DOM's own words.
var page = parseInt((location.search.match(/[?&]page=(\d+)/) || [0, '1'])[1], 10);

function makeRequest() {
  if (window.XMLHttpRequest) {
    return new XMLHttpRequest();
  }
  return new ActiveXObject('Microsoft.XMLHTTP');
}

function cell(row, text) {
  var td = document.createElement('td');
  td.appendChild(document.createTextNode(text));
  row.appendChild(td);
  return td;
}

function showRows(rows) {
  var table = document.createElement('table'), body = document.createElement('tbody');
  table.className = 'torrents';
  for (var i = 0; i < rows.length; i++) {
    var row = document.createElement('tr'), link = document.createElement('a');
    row.className = i % 2 ? 'row2' : 'row1';
    cell(row, rows[i].title);
    cell(row, rows[i].size);
    link.setAttribute('href', rows[i].get);
    link.innerHTML = 'Download';
    cell(row, '').appendChild(link);
    body.appendChild(row);
  }
  table.appendChild(body);
  document.getElementById('app').appendChild(table);
}

function showPager(pages) {
  var html = '';
  for (var n = 1; n <= pages; n++) {
    if (n === 1 || n === pages || Math.abs(n - page) < 3) {
      html += n === page ? '<b>' + n + '</b> ' : '<a href="?page=' + n + '">' + n + '</a> ';
    }
  }
  document.getElementById('pager').innerHTML = html;
}

function loadList() {
  var request = makeRequest();
  request.onreadystatechange = function () {
    if (request.readyState !== 4) {
      return;
    }
    if (request.status !== 200) {
      document.getElementById('app').innerHTML = '<p>The list cannot be loaded.</p>';
      return;
    }
    var list = JSON.parse(request.responseText);
    showRows(list.rows);
    showPager(list.pages);
  };
  request.open('GET', '/xhr/rows?page=' + page, true);
  request.setRequestHeader('X-Requested-With', 'XMLHttpRequest');
  request.send(null);
}
