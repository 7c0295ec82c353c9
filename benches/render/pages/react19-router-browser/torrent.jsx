import { useLoaderData } from 'react-router';

export const loader = async ({ params }) => {
  const { key } = await (await fetch(`/api/key?id=${params.id}`)).json();
  return { href: `/download/${params.id}.torrent?key=${key}` };
};

export function Component() {
  return <a href={useLoaderData().href}>download</a>;
}
