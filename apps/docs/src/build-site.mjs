/** `npm run docs`: builds the site of `docs/` and of the API's document into `dist/site`, which the API serves; a link to a page that does not exist fails. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vitepress';
import { writePages } from './write-pages.mjs';

const root = join(import.meta.dirname, '..');
/** Says that a build was finished. */
const stamp = join(root, 'dist', 'built');

rmSync(stamp, { force: true });
writePages();
await build(root);
writeFileSync(stamp, '');
