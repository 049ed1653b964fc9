import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './run-tool.mjs';

const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((page) => page !== '' && existsSync(join(root, page)));

/** Links of a page to other files of the repository, without those inside code. */
function linksOf(page) {
  const prose = readFileSync(join(root, page), 'utf8').replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, link]) => link);
}

/** Anchors of a page's headings, as GitHub makes them. */
function anchorsOf(path) {
  const headings = readFileSync(path, 'utf8').match(/^#+ .*$/gm) ?? [];
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Whether a link of a page leads to an existing file, and to a heading of it where it names one. */
function leadsSomewhere(page, link) {
  const [file, anchor] = link.split('#');
  const path = file === '' ? join(root, page) : join(root, dirname(page), file);
  return existsSync(path) && (anchor === undefined || anchorsOf(path).includes(anchor));
}

describe('links between pages', () => {
  it.each(pages)('%s links only to files and headings that exist', (page) => {
    expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([]);
  });
});
