import { inspect } from 'node:util';
import { errorCodeOf } from '../exit-code.js';

/** Characters that could hide, reorder or rewrite what a terminal shows; ends of lines are not among them. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

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
  console.error(`retrace: ${message.replace(UNPRINTABLE, escaped)}`);
  if (verbose) console.error(error);
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
