import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const GROUP = /^\*\*(.+?)\*\*/;
const PAGE_LINK = /\[([^\]]+)\]\(([\w/-]+)\.md\)/g;

/**
 * Reads the sidebar out of the page that lists all pages by question: its groups, and in each the pages that it links to, by the titles that they have.
 * A page has one place, the first.
 *
 * @param {string} index path of that page
 * @returns {{ text: string, collapsed: boolean, items: { text: string, link: string }[] }[]} in the page's order
 */
export function readSidebar(index) {
  const groups = [];
  const seen = new Set();
  for (const line of readFileSync(index, 'utf8').split('\n')) {
    const heading = GROUP.exec(line)?.[1];
    if (heading !== undefined) groups.push({ text: heading, collapsed: false, items: [] });
    for (const [, , page] of line.matchAll(PAGE_LINK)) {
      if (seen.has(page)) continue;
      seen.add(page);
      groups.at(-1)?.items.push({ text: titleOf(join(dirname(index), `${page}.md`)), link: linkOf(page) });
    }
  }
  return groups;
}

/** @param {string} path of a page @returns {string} its heading, without what follows a colon */
export function titleOf(path) {
  if (!existsSync(path)) throw new Error(`${path} does not exist; docs/README.md links to it`);
  const heading = /^# (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1];
  if (heading === undefined) throw new Error(`${path} has no heading; begin it with "# "`);
  return heading.split(': ')[0];
}

function linkOf(page) {
  return `/${page.replace(/(^|\/)(README|index)$/, '$1')}`;
}
