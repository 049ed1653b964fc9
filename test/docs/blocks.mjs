import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/run-tool.mjs';

/**
 * A fenced block of a page.
 *
 * @typedef {{ readonly page: string, readonly line: number, readonly language: string, readonly text: string }} Block
 */

const FENCE = /^( *)```(\S*)\n([\s\S]*?)^ *```$/gm;

/** Blocks of these languages are shown, not run: output, and drawings. */
const SHOWN = new Set(['', 'text']);

/**
 * Reads the fenced blocks of the README and of `docs/`, except measured results, which a program writes.
 *
 * @returns {readonly Block[]}
 */
export function readBlocks() {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', 'README.md', 'docs'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  const pages = listed
    .split('\n')
    .filter((page) => page.endsWith('.md') && !page.startsWith('docs/results/'));
  return pages.filter((page) => existsSync(join(root, page))).flatMap(blocksOf);
}

/** @param {string} page @returns {readonly Block[]} */
function blocksOf(page) {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(FENCE)]
    .filter(([, , language]) => !SHOWN.has(language))
    .map(({ index, 2: language, 3: block, 1: indent }) => ({
      page,
      line: text.slice(0, index).split('\n').length,
      language,
      text: block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }));
}

/** A block's place, for titles and messages. @param {Block} block */
export function placeOf({ page, line }) {
  return `${page}:${line}`;
}
