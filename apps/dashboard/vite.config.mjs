import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The first start waits for this build: quality 9 takes three times as long as 5 for 3 % fewer bytes. */
const BROTLI_QUALITY = 5;
const COMPRESSIBLE = /\.(css|html|js|svg)$/;

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
  const text = await readFile(path);
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(text),
  ]);
  await writeFile(`${path}.br`, brotli);
  await writeFile(`${path}.gz`, gzipped);
}
