import { ProcessError } from './process-error.js';

/** One of several like processes, which divide the work among them. */
export interface Share {
  /** 0 … count − 1. */
  readonly index: number;
  readonly count: number;
}

/**
 * Reads `1/3`, the first of three; nothing said is the only one.
 *
 * @param name the environment variable
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`
 */
export function readShare(environment: NodeJS.ProcessEnv, name: string): Share {
  const text = environment[name] ?? '';
  if (text === '') return { index: 0, count: 1 };
  const [, number, count] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).map(Number);
  if (!(number >= 1 && number <= count)) {
    const rule = 'must be <number>/<count>, such as 1/3 for the first of three';
    throw new ProcessError('ENVIRONMENT_VARIABLE_INVALID', `${name}: got ${JSON.stringify(text)}, ${rule}`);
  }
  return { index: number - 1, count };
}
