import { inspect } from 'node:util';
import { toErrorCode } from '../exit-code.js';
import { shownText } from './shown-text.js';

const OUT_OF_FILES = 'this process may open too few files; raise the limit, as by "ulimit -n 4096"';

/**
 * Prints an error's message on stderr, as one sentence or as `{"error":{"code","message"}}`; with `verbose` also its stack, in the object
 * as `stack`.
 */
export function printError(
  error: unknown,
  { json, verbose }: { readonly json: boolean; readonly verbose: boolean },
): void {
  const message = describeError(error);
  if (json) {
    const stack = verbose ? { stack: inspect(error) } : {};
    const code = toErrorCode(error);
    console.error(JSON.stringify({ error: { code, message: message.replace(/^error: /, ''), ...stack } }));
    return;
  }
  console.error(`retrace: ${shownText(message)}`);
  if (verbose) console.error(error);
}

/** The message with what `fetch` and the operating system leave out of it: who did not answer and why, and what to do about too few files. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isOutOfFiles(error) || isOutOfFiles(error.cause)) return `${error.message}: ${OUT_OF_FILES}`;
  const reason = error.message === 'fetch failed' ? describeCause(error.cause) : null;
  return reason === null ? error.message : `no answer from a server: ${reason}`;
}

function isOutOfFiles(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE';
}

/** A name with several addresses gives an error for each. */
function describeCause(cause: unknown): string | null {
  const [first] = cause instanceof AggregateError ? (cause.errors as readonly unknown[]) : [cause];
  return first instanceof Error && first.message !== '' ? first.message : null;
}
