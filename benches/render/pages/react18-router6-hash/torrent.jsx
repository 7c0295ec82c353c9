import { useParams } from 'react-router-dom';

export default function Torrent() {
  const { id } = useParams();
  return <a href={`/download/${id}.torrent`}>download</a>;
}
