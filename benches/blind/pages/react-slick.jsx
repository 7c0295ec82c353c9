import 'slick-carousel/slick/slick-theme.css';
import 'slick-carousel/slick/slick.css';
import Slider from 'react-slick';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <Slider dots infinite slidesToShow={5} slidesToScroll={5}>
    {items.map((item) => <div key={item.id}><Link item={item} /></div>)}
  </Slider>
));
