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
    console.error(`retrace: ${message}`);
  }
  if (verbose) console.error(error);
}
