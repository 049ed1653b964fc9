import Theme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

/** Served beside this site, so the router of these pages leaves it to the browser. */
const dashboard = () => h('a', { class: 'dashboard-link', href: '/', target: '_self' }, 'Dashboard');

export default {
  extends: Theme,
  Layout: () =>
    h(Theme.Layout, null, { 'nav-bar-content-after': dashboard, 'nav-screen-content-after': dashboard }),
};
