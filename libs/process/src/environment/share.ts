import type { Share } from '@retrace/log';
import { ProcessError } from '../process-error.js';

/**
 * Parses a share, such as `1/3` for the first of three; a variable that is not set means the whole.
 *
 * @param name of the environment variable
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` when the number is not between 1 and the count
 */
export function parseShare(name: string, text: string | undefined): Share {
  if (text === undefined) return { index: 0, count: 1 };
  const [number, count] = text.split('/').map(Number);
  if (!(number >= 1 && number <= count)) {
    throw new ProcessError(
      'ENVIRONMENT_VARIABLE_INVALID',
      `${name}: got ${JSON.stringify(text)}, must be <number>/<count>, such as 1/3 for the first of three`,
    );
  }
  return { index: number - 1, count };
}
