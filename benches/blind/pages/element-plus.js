import 'element-plus/dist/index.css';
import ElementPlus from 'element-plus';
import { show } from '../vue.js';

show(
  `<el-tabs><el-tab-pane label="New">
    <el-table :data="items" height="600" style="width: 100%">
      <el-table-column prop="name" label="Name" sortable><template #default="{ row }"><el-link :href="row.url">{{ row.name }}</el-link></template></el-table-column>
      <el-table-column prop="seeders" label="Seeders" width="180" />
    </el-table>
    <el-pagination layout="prev, pager, next" :total="1000" />
  </el-tab-pane></el-tabs>`,
  {},
  ElementPlus,
);
