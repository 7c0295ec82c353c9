// The site of the comparison pages: the built folders of `target/render-pages`, and the JSON, JSONP, XML, HTML and form
// APIs that they read. Everything it answers is a function of the request, so that two engines that ask the same see
// the same. It listens on loopback only, on a port and on the next one, which is the API of another origin.
// With `PAGES`, a folder beside this one, the pages are those of that folder.
//
// node serve.mjs [PORT]
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, dirname, extname, join, normalize, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const HERE = dirname(fileURLToPath(import.meta.url));
/** The folder of the pages and of the packages that they are made of. */
export const ROOT = resolve(process.env.PAGES ?? HERE);
export const BUILT = join(HERE, '../../target', `${basename(ROOT)}-pages`);
export const PORT = 8461;

const TORRENTS = 100;
const PER_PAGE = 25;
/** A request body beyond this ends the connection: no page sends more. */
const BODY_BYTES_MAX = 64 * 1024;

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.css': 'text/css',
  '.map': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
};

const WORDS = (
  'amber basin cedar delta ember fjord grove harbor island jasper ' +
  'knoll lagoon meadow north orchid prairie quartz river summit tundra'
).split(' ');
const CATEGORIES = ['audio', 'books', 'linux', 'video'];

function torrent(id) {
  const hash = createHash('sha1').update(`torrent ${id}`).digest('hex');
  const pick = (at) => WORDS[parseInt(hash.slice(at, at + 4), 16) % WORDS.length];
  const name = `${pick(0)} ${pick(4)} ${2000 + (id % 27)} & "${pick(8)}"`;
  return {
    id,
    name,
    slug: name.replace(/[^a-z0-9]+/g, '-').replace(/-$/, ''),
    category: CATEGORIES[id % CATEGORIES.length],
    bytes: parseInt(hash.slice(12, 20), 16),
    seeders: parseInt(hash.slice(20, 23), 16),
    leechers: parseInt(hash.slice(23, 25), 16),
    hash,
    added: new Date(Date.UTC(2026, 10, 21) - id * 3_600_000).toISOString(),
    url: `/torrent/${id}`,
    download: `/download/${id}.torrent`,
    magnet: `magnet:?xt=urn:btih:${hash}&dn=${encodeURIComponent(name)}`,
  };
}
const ALL = Array.from({ length: TORRENTS }, (_, index) => torrent(index + 1));

/** What a query asks for: category, words, order; then a page of it. */
function choose(query) {
  let items = ALL;
  if (query.get('category')) items = items.filter((item) => item.category === query.get('category'));
  if (query.get('q')) items = items.filter((item) => item.name.includes(query.get('q')));
  if (query.get('sort') === 'seeders') items = [...items].sort((a, b) => b.seeders - a.seeders || a.id - b.id);
  const per = Math.min(Number(query.get('per')) || PER_PAGE, TORRENTS);
  const page = Math.max(1, Number(query.get('page')) || 1);
  const offset = query.has('offset') ? Number(query.get('offset')) || 0 : (page - 1) * per;
  return {
    page,
    per,
    total: items.length,
    pages: Math.ceil(items.length / per),
    items: items.slice(offset, offset + per),
  };
}

const escapeHtml = (text) =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char]);
const row = (item) =>
  `<tr id="t${item.id}"><td><a href="${item.url}">${escapeHtml(item.name)}</a></td>` +
  `<td><a href="${item.download}">get</a></td><td>${item.seeders}</td></tr>`;
const token = (seed) => createHash('sha1').update(`token ${seed}`).digest('hex').slice(0, 16);

const json = (value, status = 200, headers = {}) => [status, 'application/json', JSON.stringify(value), headers];
const html = (text, headers = {}) => [200, 'text/html; charset=utf-8', text, headers];
/** The APIs by path: each takes `{ query, headers, cookies, body, method }`, gives `[status, type, body, headers?]`. */
const APIS = {
  '/api/torrents': ({ query }) => json(choose(query)),
  '/api/array': ({ query }) => json(choose(query).items),
  '/api/categories': () => json(CATEGORIES),
  '/api/jsonp': ({ query }) => [
    200,
    'text/javascript',
    `/**/${(query.get('callback') ?? 'callback').replace(/[^\w.$]/g, '')}(${JSON.stringify(choose(query))});`,
  ],
  '/api/cursor': ({ query }) => {
    const after = Number(query.get('after')) || 0;
    const items = ALL.slice(after, after + PER_PAGE);
    return json({ items, next: after + PER_PAGE < TORRENTS ? String(after + PER_PAGE) : null });
  },
  '/api/linked': ({ query }) => {
    const { page, pages, items } = choose(query);
    return json(items, 200, page < pages ? { Link: `</api/linked?page=${page + 1}>; rel="next"` } : {});
  },
  '/api/datatables': ({ query }) => {
    const start = Number(query.get('start')) || 0;
    const length = Number(query.get('length')) || PER_PAGE;
    const data = ALL.slice(start, start + length);
    return json({ draw: Number(query.get('draw')) || 0, recordsTotal: TORRENTS, recordsFiltered: TORRENTS, data });
  },
  '/api/xml': ({ query }) => [
    200,
    'application/xml',
    `<?xml version="1.0"?><list>${choose(query)
      .items.map((item) => `<item id="${item.id}" href="${item.url}"><title>${escapeHtml(item.name)}</title></item>`)
      .join('')}</list>`,
  ],
  '/api/lines': ({ query }) => [
    200,
    'application/x-ndjson',
    choose(query)
      .items.map((item) => JSON.stringify(item))
      .join('\n') + '\n',
  ],
  '/api/text': ({ query }) => [
    200,
    'text/plain; charset=utf-8',
    choose(query)
      .items.map((item) => `${item.id}|${item.name}|${item.url}`)
      .join('\n'),
  ],
  '/api/graphql': ({ body, method }) => {
    if (method !== 'POST') return json({ errors: [{ message: 'POST' }] }, 405);
    const { variables } = JSON.parse(body);
    const chosen = choose(new URLSearchParams({ page: String(variables?.page ?? 1) }));
    return json({ data: { torrents: { nodes: chosen.items, pages: chosen.pages } } });
  },
  '/api/form': ({ body, method, headers }) => {
    if (method !== 'POST') return json({ error: 'POST' }, 405);
    const type = headers['content-type'] ?? '';
    if (type.startsWith('application/x-www-form-urlencoded')) return json(choose(new URLSearchParams(body)));
    const fields = new URLSearchParams();
    for (const [, name, value] of body.matchAll(/name="([^"]*)"\r\n\r\n([^\r]*)\r\n/g)) fields.append(name, value);
    return json(choose(fields));
  },
  '/api/token': () => json({ token: token('list') }),
  '/api/guarded': ({ query, headers }) =>
    headers['x-token'] === token('list') ? json(choose(query)) : json({ error: 'token' }, 403),
  '/api/session': ({ query, cookies }) =>
    cookies.includes('ready=1') ? json(choose(query)) : json({ error: 'cookie' }, 403),
  '/api/bearer': ({ query, headers }) =>
    headers.authorization === `Bearer ${token('bearer')}` ? json(choose(query)) : json({ error: 'bearer' }, 401),
  '/api/login': ({ method, body }) => {
    if (method !== 'POST' || JSON.parse(body).guest !== true) return json({ error: 'guest' }, 403);
    return json({ bearer: token('bearer') });
  },
  '/api/key': ({ query }) => json({ key: token(`download ${query.get('id')}`) }),
  '/api/flaky': ({ query }) => (query.get('try') === '2' ? json(choose(query)) : json({ error: 'again' }, 503)),
  '/api/encoded': ({ query }) => json({ data: Buffer.from(JSON.stringify(choose(query).items)).toString('base64') }),
  '/fragment/rows': ({ query }) => html(choose(query).items.map(row).join('')),
  '/fragment/table': ({ query }) => {
    const { page, pages, items } = choose(query);
    const next = page < pages ? `<a id="next" data-act="next" href="?page=${page + 1}">next</a>` : '';
    return html(`<div id="list" class="list"><table><tbody>${items.map(row).join('')}</tbody></table>${next}</div>`);
  },
  '/fragment/more': ({ query }) => {
    const { page, pages, items } = choose(query);
    const attributes = `hx-get="/fragment/more?page=${page + 1}" hx-target="#more" hx-swap="outerHTML"`;
    const next = `<tr id="more"><td><button data-act="more" ${attributes}>more</button></td></tr>`;
    return html(items.map(row).join('') + (page < pages ? next : ''));
  },
  '/fragment/revealed': ({ query }) => {
    const { page, pages, items } = choose(query);
    const rows = items.map(row);
    if (page < pages) {
      const attributes = `hx-get="/fragment/revealed?page=${page + 1}" hx-trigger="revealed" hx-swap="afterend"`;
      rows[rows.length - 1] = rows[rows.length - 1].replace('<tr ', `<tr ${attributes} `);
    }
    return html(rows.join(''));
  },
  '/fragment/frame': ({ query }) => {
    const { page, pages, items } = choose(query);
    const next = page < pages ? `<a data-act="next" href="/fragment/frame?page=${page + 1}">next</a>` : '';
    const rows = items.map(
      (item) => `<li><a href="${item.url}" data-turbo-frame="_top">${escapeHtml(item.name)}</a></li>`,
    );
    return html(`<html><body><turbo-frame id="list"><ul>${rows.join('')}</ul>${next}</turbo-frame></body></html>`);
  },
  '/fragment/stream': ({ query }) => {
    const { page, pages, items } = choose(query);
    const rows = items.map((item) => `<li><a href="${item.url}">${escapeHtml(item.name)}</a></li>`).join('');
    const next =
      page < pages
        ? `<form action="/fragment/stream?page=${page + 1}" method="post"><button data-act="more">more</button></form>`
        : '';
    return [
      200,
      'text/vnd.turbo-stream.html; charset=utf-8',
      `<turbo-stream action="append" target="rows"><template>${rows}</template></turbo-stream>` +
        `<turbo-stream action="update" target="more"><template>${next}</template></turbo-stream>`,
    ];
  },
};

function answer(response, [status, type, body, headers = {}]) {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...headers,
  });
  response.end(body);
}

function file(response, path) {
  response.writeHead(200, {
    'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream',
    'Content-Length': statSync(path).size,
    'Cache-Control': 'no-store',
  });
  createReadStream(path).pipe(response);
}

/** A built file; a route of a page whose router lives in the path is that page. */
function built(response, pathname) {
  const path = normalize(join(BUILT, pathname));
  if (!path.startsWith(BUILT)) return answer(response, [403, 'text/plain', 'outside']);
  if (existsSync(path) && statSync(path).isFile()) return file(response, path);
  const index = join(BUILT, pathname.split('/')[1] ?? '', 'index.html');
  if (pathname.split('/').length > 2 && !extname(pathname) && existsSync(index)) return file(response, index);
  return answer(response, [404, 'text/plain', 'nothing here']);
}

function handle(crossOrigin, request, response) {
  const url = new URL(request.url, `http://${request.headers.host}`);
  const chunks = [];
  let bytes = 0;
  request.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) request.destroy();
    else chunks.push(chunk);
  });
  request.on('end', () => {
    const cors = crossOrigin
      ? { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'x-token,content-type' }
      : {};
    if (request.method === 'OPTIONS') return answer(response, [204, 'text/plain', '', cors]);
    const api = APIS[url.pathname];
    if (!api) {
      const [, room, name] = url.pathname.split('/');
      if (crossOrigin) return answer(response, [404, 'text/plain', 'nothing here', cors]);
      if (room === 'torrent')
        return answer(response, html(`<title>${escapeHtml(name ?? '')}</title><p>a detail page</p>`));
      if (room === 'download')
        return answer(response, [
          200,
          'application/x-bittorrent',
          `d4:infod4:name1:xee`,
          { 'Content-Disposition': 'attachment' },
        ]);
      if (room === 'favicon.ico') return answer(response, [204, 'image/x-icon', '']);
      return built(response, url.pathname);
    }
    try {
      const [status, type, body, headers] = api({
        query: url.searchParams,
        headers: request.headers,
        cookies: request.headers.cookie ?? '',
        body: Buffer.concat(chunks).toString(),
        method: request.method,
      });
      const delay = Math.min(Number(url.searchParams.get('delay')) || 0, 1000);
      setTimeout(() => answer(response, [status, type, body, { ...headers, ...cors }]), delay);
    } catch (error) {
      answer(response, json({ error: String(error) }, 400, cors));
    }
  });
}

/** Starts both listeners; `close()` of what it gives ends them. */
export async function serve(port = PORT) {
  const listen = (crossOrigin, at) =>
    new Promise((resolve, reject) => {
      const server = createServer((request, response) => handle(crossOrigin, request, response));
      server.once('error', reject);
      server.listen(at, '127.0.0.1', () => resolve(server));
    });
  const servers = [await listen(false, port), await listen(true, port + 1)];
  const close = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  return { origin: `http://127.0.0.1:${port}`, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { origin } = await serve(Number(process.argv[2]) || PORT);
  console.log(`listening on ${origin}`);
}
