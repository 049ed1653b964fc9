import type { PaletteCommand } from './commands';

/** Headings of the pages by their files; `vite.config.mjs` reads them. */
const HEADINGS = import.meta.glob<string>(['../../../../docs/*.md', '../../../../docs/how-to/*.md'], {
  query: '?heading',
  import: 'default',
  eager: true,
});

/** The pages of the documentation, which the server has at `/docs/`. */
export const DOCS_COMMANDS: readonly PaletteCommand[] = Object.entries(HEADINGS)
  .filter(([file]) => !file.endsWith('/README.md'))
  .map(([file, heading]) => ({
    ...{ group: 'Documentation', label: heading, isRare: true },
    effect: { kind: 'leave', address: file.replace(/^.*\/docs\/(.+)\.md$/, '/docs/$1') },
  }));
