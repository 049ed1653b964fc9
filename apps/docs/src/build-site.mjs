/** `npm run docs`: builds the site of `docs/` and of the API's document into `dist/site`, which the API serves; a link to a page that does not exist fails. */
import { join } from 'node:path';
import { build } from 'vitepress';
import { writePages } from './write-pages.mjs';

writePages();
await build(join(import.meta.dirname, '..'));
