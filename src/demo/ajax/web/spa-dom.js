export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2).toLowerCase(), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const mount = (where, ...what) => where.replaceChildren(...what);

export async function api(path, { signal } = {}) {
  const response = await fetch(`/spa/api/${path}`, { headers: { Accept: 'application/json' }, signal });
  if (!response.ok) throw new Error(`${response.status} for ${path}`);
  return response.json();
}
