import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INDEX } from './places.mjs';
import { readSidebar } from './sidebar.mjs';

/** @type {string} */
let folder;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'retrace-sidebar-'));
  writeFileSync(join(folder, 'a.md'), '# Apples: red ones\n');
  writeFileSync(join(folder, 'b.md'), '# Beans\n');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function sidebarOf(/** @type {string} */ text) {
  const index = join(folder, 'README.md');
  writeFileSync(index, text);
  return readSidebar(index);
}

describe('the sidebar', () => {
  it('has the groups of the index, and each page once by its own title', () => {
    const text =
      '# All\n\n**Starting**\n\n- What? [the beans](b.md), with a [list](b.md#list)\n\n**Reading**\n\n- Why? [x](a.md) and [beans](b.md)\n';
    expect(sidebarOf(text)).toEqual([
      { text: 'Starting', collapsed: false, items: [{ text: 'Beans', link: '/b' }] },
      { text: 'Reading', collapsed: false, items: [{ text: 'Apples', link: '/a' }] },
    ]);
  });

  it('refuses an index that names a page which does not exist', () => {
    expect(() => sidebarOf('**A**\n\n- [none](none.md)\n')).toThrow(/none\.md does not exist/);
  });

  it('of this repository begins with the tutorial', () => {
    expect(readSidebar(INDEX)[0].items[0].link).toBe('/tutorial');
  });
});
