import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { anchorOf } from '../src/anchors.mjs';
import { listReference } from '../src/api-reference/pages.mjs';
import { groupCodeBlocks } from '../src/code-groups.mjs';
import { compressFiles } from '../src/compress-files.mjs';
import { moveScripts } from '../src/inline-scripts.mjs';
import { unlinkFilesOutside } from '../src/outside-links.mjs';
import { BASE, INDEX, OPENAPI, PAGES, SITE, VERSION } from '../src/places.mjs';
import { readSidebar } from '../src/sidebar.mjs';

export default defineConfig({
  title: `Retrace ${VERSION}`,
  description: 'Event-sourced trajectory store and off-policy-aware trainer for LLM agents',
  lang: 'en',
  base: BASE,
  srcDir: PAGES,
  outDir: SITE,
  cacheDir: 'dist/cache',
  cleanUrls: true,
  // The index of the search is one.
  vite: { build: { chunkSizeWarningLimit: 1000 } },
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  // The content security policy of the API forbids scripts in pages.
  metaChunk: true,
  transformHtml: moveScripts,
  buildEnd: () => compressFiles(SITE),
  head: [['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }]],
  markdown: {
    anchor: { slugify: anchorOf },
    config: (markdown) => {
      groupCodeBlocks(markdown);
      unlinkFilesOutside(markdown);
    },
  },
  themeConfig: {
    logo: { src: '/icon.svg', alt: '' },
    nav: [
      { text: 'How to', link: '/how-to/' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: {
      '/': readSidebar(INDEX),
      '/api/': [{ text: 'API', items: listReference(JSON.parse(readFileSync(OPENAPI, 'utf8'))) }],
    },
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        // Figures of measurements would be half of all hits.
        _render: (source, environment, markdown) =>
          environment.relativePath.startsWith('results/') ? '' : markdown.render(source, environment),
      },
    },
    footer: { message: `Retrace ${VERSION} · Apache-2.0` },
  },
});
