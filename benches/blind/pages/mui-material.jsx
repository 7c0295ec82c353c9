import { Link, Paper, Table, TableBody, TableCell, TableContainer, TableHead, TablePagination, TableRow } from '@mui/material';
import { show } from '../react.jsx';

show(({ items }) => (
  <Paper>
    <TableContainer>
      <Table>
        <TableHead><TableRow><TableCell>Name</TableCell><TableCell align="right">Seeders</TableCell></TableRow></TableHead>
        <TableBody>
          {items.map((item) => (
            <TableRow key={item.id} hover>
              <TableCell><Link href={item.url} underline="hover">{item.name}</Link></TableCell>
              <TableCell align="right">{item.seeders}</TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
    <TablePagination component="div" count={100} page={0} rowsPerPage={60} rowsPerPageOptions={[60]} onPageChange={() => {}} />
  </Paper>
));
