/**
 * Loads `gae` of `@retrace/algorithms` from its built text with every check of its inputs removed, so that the difference is only the
 * cost of the checks. A copy by hand would be another loop, which the compiler may make faster or slower for other reasons. For the loss
 * of PPO this shows nothing: the same text, loaded twice, took 9 ms and 15 ms in turn, and its checks are a few additions per token.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Statements that check, and the sums that only serve to detect non-finite values and results. */
const CHECKS = [/^\s*(if \(.*\)\s+)?check\w+\(.*\);$/gm, /^\s*sum \+= .*;$/gm];

async function importUnchecked(relativePath, numExpected) {
  const source = new URL(relativePath, import.meta.resolve('@retrace/algorithms'));
  let text = readFileSync(source, 'utf8');
  let numRemoved = 0;
  for (const check of CHECKS) {
    text = text.replace(check, () => {
      numRemoved += 1;
      return '';
    });
  }
  if (numRemoved !== numExpected)
    throw new Error(`${relativePath}: removed ${numRemoved} checks; expected ${numExpected}`);
  text = text.replace(/from ['"](\..*?)['"]/g, (_, path) => `from "${new URL(path, source).href}"`);
  const directory = mkdtempSync(join(tmpdir(), 'retrace-unchecked-'));
  try {
    const file = join(directory, basename(relativePath).replace('.js', '.mjs'));
    writeFileSync(file, text);
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

export const { gae: uncheckedGae } = await importUnchecked('./advantages/gae.js', 12);
