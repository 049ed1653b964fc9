import { ProcessError } from '../process-error.js';

/** One of several like processes, which divide the work among them. */
export interface Share {
  /** 0 … count − 1. */
  readonly index: number;
  readonly count: number;
}

/** The share of a process that does all the work. */
export const WHOLE_SHARE: Share = { index: 0, count: 1 };

/**
 * Parses `1/3`, the first share of three. Not set is the whole.
 *
 * @param name of the environment variable
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` when the number is not between 1 and the count
 */
export function parseShare(name: string, text: string | undefined): Share {
  if (text === undefined) return WHOLE_SHARE;
  const [number, count] = text.split('/').map(Number);
  if (!(number >= 1 && number <= count)) {
    throw new ProcessError(
      'ENVIRONMENT_VARIABLE_INVALID',
      `${name}: got ${JSON.stringify(text)}, must be <number>/<count>, such as 1/3 for the first of three`,
    );
  }
  return { index: number - 1, count };
}
