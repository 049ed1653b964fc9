import { spawnSync } from 'node:child_process';

/** A part of a line for the reader to fill in, which bash would take for redirections. */
export const PLACEHOLDER = /<[a-z][a-zA-Z ]*>/g;

/**
 * Splits a block into its statements, as bash reads them: a statement of several lines (a text in quotes, a here-document, a line that goes on)
 * stays whole. Lines with nothing but a comment are none.
 *
 * @param {string} block
 * @returns {readonly string[]}
 */
export function statementsOf(block) {
  const statements = [];
  let open = '';
  for (const line of block.split('\n')) {
    if (open === '' && /^\s*(#.*)?$/.test(line)) continue;
    open += `${line}\n`;
    if (isIncomplete(open)) continue;
    statements.push(open.trimEnd());
    open = '';
  }
  if (open !== '') throw new Error(`bash does not understand ${JSON.stringify(open)}`);
  return statements;
}

/** Whether bash would read on; it only warns of a here-document without its end. @param {string} text */
function isIncomplete(text) {
  if (text.endsWith('\\\n')) return true;
  const filled = text.replaceAll(PLACEHOLDER, 'id');
  return spawnSync('bash', ['-n'], { input: filled, encoding: 'utf8' }).stderr !== '';
}
