import { inspect } from 'node:util';
import { errorCodeOf } from '../exit-code.js';
import { shownText } from './shown-text.js';

/**
 * Prints an error's message on stderr, as one sentence or as `{"error":{"code","message"}}`; with `verbose` also its stack, in the object
 * as `stack`.
 */
export function printError(
  error: unknown,
  { json, verbose }: { readonly json: boolean; readonly verbose: boolean },
): void {
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const stack = verbose ? { stack: inspect(error) } : {};
    const code = errorCodeOf(error);
    console.error(JSON.stringify({ error: { code, message: message.replace(/^error: /, ''), ...stack } }));
    return;
  }
  console.error(`retrace: ${shownText(message)}`);
  if (verbose) console.error(error);
}
