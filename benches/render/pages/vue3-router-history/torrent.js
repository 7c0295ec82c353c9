import { h } from 'vue';

export default {
  props: ['id'],
  render() {
    return h('p', [h('a', { href: `/download/${this.id}.torrent`, download: '' }, 'download')]);
  },
};
