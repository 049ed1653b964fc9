import { readFileSync, statSync } from 'node:fs';
import stripJsonComments from 'strip-json-comments';
import { ConfigError } from '../config-error.js';
import { showText } from '../recipe/show-value.js';

/** Far more than any recipe needs. */
const MAX_FILE_BYTES = 2 ** 20;

export function isRecipeFile(path: string): boolean {
  return /\.jsonc?$/.test(path);
}

/**
 * The value in a JSON file; one that is called `.jsonc` may have comments, and commas at ends.
 *
 * @param shown the file as the message names it that is not JSON
 * @throws ConfigError `RECIPE_UNKNOWN` for a missing file, `RECIPE_INVALID` for one that is too large or is not JSON
 */
export function parseRecipeFile(path: string, shown = `Recipe file "${showText(path)}"`): unknown {
  const text = readRecipeFile(path);
  try {
    return JSON.parse(path.endsWith('.jsonc') ? stripJsonComments(text, { trailingCommas: true }) : text);
  } catch (cause) {
    const message = `${shown} is not valid JSON: ${(cause as Error).message}`;
    throw new ConfigError('RECIPE_INVALID', message, { cause });
  }
}

/** @throws ConfigError before anything is read of what is not a file, or is far too large */
function readRecipeFile(path: string): string {
  const shown = `Recipe file "${showText(path)}"`;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new ConfigError('RECIPE_UNKNOWN', `${shown} not found`);
  if (!found.isFile()) throw new ConfigError('RECIPE_UNKNOWN', `${shown} is not a regular file`);
  if (found.size > MAX_FILE_BYTES) {
    throw new ConfigError(
      'RECIPE_INVALID',
      `${shown} has ${found.size.toLocaleString('en')} bytes; a recipe has at most ${MAX_FILE_BYTES.toLocaleString('en')}`,
    );
  }
  return readFileSync(path, 'utf8');
}
