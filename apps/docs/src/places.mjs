import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = join(import.meta.dirname, '..');

/** Where the API serves the site. */
export const BASE = '/docs/';
/** The pages, as people write them. */
export const DOCUMENTS = join(PACKAGE, '..', '..', 'docs');
/** Names all pages, by question. */
export const INDEX = join(DOCUMENTS, 'README.md');
/** The pages that VitePress reads: those, and generated ones. */
export const PAGES = join(PACKAGE, 'dist', 'pages');
export const SITE = join(PACKAGE, 'dist', 'site');
/** The document of the API that `npm run openapi -w @retrace/api` writes. */
export const OPENAPI = join(PACKAGE, '..', 'api', 'openapi.json');
export const ICON = join(PACKAGE, '..', 'dashboard', 'public', 'icon.svg');
export const { version: VERSION } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
