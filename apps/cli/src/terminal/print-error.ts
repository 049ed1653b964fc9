/** Characters that could hide, reorder or rewrite what a terminal shows; ends of lines are not among them. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Prints an error's message on stderr, as one sentence or one JSON object; with `verbose` also its stack and causes. */
export function printError(
  error: unknown,
  { json, verbose }: { readonly json: boolean; readonly verbose: boolean },
): void {
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const code = (error as { code?: unknown } | null)?.code;
    console.error(
      JSON.stringify({ error: { code: typeof code === 'string' ? code : 'UNEXPECTED', message } }),
    );
  } else {
    console.error(`retrace: ${message.replace(UNPRINTABLE, escaped)}`);
  }
  if (verbose) console.error(error);
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
