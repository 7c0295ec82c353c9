export const api = async (page) => (await fetch(new URL(`/api/array?page=${page}`, import.meta.url))).json();
