import 'bootstrap/dist/css/bootstrap.min.css';
import { Accordion, Container, ListGroup, Pagination, Tab, Table, Tabs } from 'react-bootstrap';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <Container>
    <Tabs defaultActiveKey="new">
      <Tab eventKey="new" title="New">
        <Table striped hover><tbody>{items.map((item) => <tr key={item.id}><td><Link item={item} /></td></tr>)}</tbody></Table>
        <Pagination>{[1, 2, 3].map((page) => <Pagination.Item key={page} active={page === 1} href={`?page=${page}`}>{page}</Pagination.Item>)}</Pagination>
      </Tab>
      <Tab eventKey="top" title="Top" mountOnEnter><a href="/top">top</a></Tab>
    </Tabs>
    <Accordion defaultActiveKey="1">
      <Accordion.Item eventKey="1"><Accordion.Body><ListGroup>{items.map((item) => <ListGroup.Item key={item.id} action href={item.magnet}>{item.name}</ListGroup.Item>)}</ListGroup></Accordion.Body></Accordion.Item>
    </Accordion>
  </Container>
));
