import { RetraceError } from '../wire/retrace-error.js';

/** Stands where the spool is in Node: a browser has no files. */
export function SpoolQueue(): never {
  throw new RetraceError('UNSUPPORTED', 'A browser has no spool: leave the option "spool" out');
}
