export async function fetchPage(page) {
  const answer = await fetch(`/api/torrents?${new URLSearchParams([['page', page], ['per', 20]])}`);
  if (!answer.ok) throw new Error(answer.statusText);
  return (await answer.json()).items;
}
