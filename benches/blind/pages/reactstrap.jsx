import 'bootstrap/dist/css/bootstrap.min.css';
import { Accordion, AccordionBody, AccordionHeader, AccordionItem, Card, CardLink, Pagination, PaginationItem, PaginationLink, Table } from 'reactstrap';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <>
    <Table hover><tbody>{items.map((item) => <tr key={item.id}><td><Link item={item} /></td></tr>)}</tbody></Table>
    {items.slice(0, 20).map((item) => <Card key={item.id} body><CardLink href={item.download}>{item.name}</CardLink></Card>)}
    <Accordion open="1" toggle={() => {}}>
      <AccordionItem><AccordionHeader targetId="1">Magnets</AccordionHeader><AccordionBody accordionId="1">{items.map((item) => <a key={item.id} href={item.magnet}>magnet</a>)}</AccordionBody></AccordionItem>
    </Accordion>
    <Pagination>{[1, 2, 3].map((page) => <PaginationItem key={page}><PaginationLink href={`?page=${page}`}>{page}</PaginationLink></PaginationItem>)}</Pagination>
  </>
));
