import format from 'format';

export const rows = (items) => `<ul>${items.map((item) => `<li><a href="${item.url}">${format(item.name)}</a></li>`).join('')}</ul>`;
