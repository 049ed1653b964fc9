import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The first start waits for this build: quality 9 takes three times as long as 5 for 3 % fewer bytes. */
const BROTLI_QUALITY = 5;
/** Files of the first view are worth a second more: 8 % fewer bytes. */
const FIRST_VIEW_BROTLI_QUALITY = 10;
const FIRST_VIEW = /^(frame|charts|tokens|table|index)-/;
const COMPRESSIBLE = /\.(css|html|js|svg)$/;

const SHARED_FILES = [
  {
    name: 'frame',
    test: testOf([
      ...['react', 'react-dom', 'react-router', 'scheduler', 'openapi-fetch'].map(
        (name) => `node_modules/${name}/`,
      ),
      'node_modules/@tanstack/(query-core|react-query)/',
      'dashboard/src/api/(?!dataset|notebook|replay|update|what-if)',
      'dashboard/src/(shell|api-types|as-of|format|live|queue/(?!start-form)|theme|keyboard/(?!key-help))',
      'dashboard/src/components/(?!column|data-table|modal-dialog|shown-tooltip|table|virtual-rows|wide-table)',
      'dashboard/src/(charts/sparkline|pages/run-layout|runs/(run-annotations|run-of-page|run-pages))',
    ]),
    priority: 3,
  },
  {
    name: 'table',
    test: testOf([
      'node_modules/@tanstack/(table-core|react-table|store|react-store)/',
      'dashboard/src/components/(data-table|wide-table|table)',
    ]),
    priority: 2,
  },
  { name: 'tokens', test: testOf(['dashboard/src/tokens/(?!token-blocks)']), priority: 2 },
  {
    name: 'charts',
    test: testOf([
      'node_modules/uplot/',
      'dashboard/src/(charts|warnings/run-warnings|sampling|agents|validation/first-and-newest)',
      'dashboard/src/(metrics/(pinned-charts|use-run-series)|pages/run-overview-page)',
    ]),
    priority: 1,
  },
];

/** @param paths regular expressions of parts of a path, with `/` for the separator of either system */
function testOf(paths) {
  return new RegExp(paths.join('|').replaceAll('/', String.raw`[\\/]`));
}

export default defineConfig({
  plugins: [react(), precompress(), documentHeadings()],
  build: {
    outDir: 'dist/site',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    sourcemap: false,
    // Every browser that runs this page preloads modules by itself.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    // The first start of Retrace runs this build; its output is for users.
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: { index: 'index.html', reference: 'reference.html' },
      output: { codeSplitting: { groups: SHARED_FILES } },
    },
  },
  server: {
    proxy: { '/api': 'http://127.0.0.1:8787' },
  },
});

/** Gives `<document>.md?heading` as a module with the heading of the document, without what follows a colon. */
function documentHeadings() {
  return {
    name: 'retrace-document-headings',
    enforce: 'pre',
    async load(id) {
      if (!id.endsWith('.md?heading')) return null;
      const path = id.slice(0, -'?heading'.length);
      const heading = /^# (.+)$/m.exec(await readFile(path, 'utf8'))?.[1];
      if (heading === undefined) throw new Error(`${path} has no heading; begin it with "# "`);
      return { code: `export default ${JSON.stringify(heading.split(': ')[0])};`, moduleType: 'js' };
    },
  };
}

/** Writes a `.br` and a `.gz` beside every text file of the bundle, which the API serves to clients that accept them. */
function precompress() {
  return {
    name: 'retrace-precompress',
    apply: 'build',
    async writeBundle({ dir }) {
      const files = await readdir(dir, { recursive: true });
      await Promise.all(
        files.filter((file) => COMPRESSIBLE.test(file)).map((file) => compress(join(dir, file))),
      );
    },
  };
}

async function compress(path) {
  const quality = FIRST_VIEW.test(basename(path)) ? FIRST_VIEW_BROTLI_QUALITY : BROTLI_QUALITY;
  const text = await readFile(path);
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
    promisify(gzip)(text),
  ]);
  await writeFile(`${path}.br`, brotli);
  await writeFile(`${path}.gz`, gzipped);
}
