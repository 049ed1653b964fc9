/** One sentence on stderr (or one JSON object), and the stack with its causes on request. */
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
