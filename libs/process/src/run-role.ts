/**
 * Runs a role's main: exit code 0 when it returns; when it throws, or when anything is thrown in the background, the error's
 * sentence on stderr and exit code 1. The supervisor shows that sentence and counts it. RETRACE_VERBOSE=1 adds the stack.
 */
export async function runRole(main: () => Promise<void>): Promise<void> {
  process.once('uncaughtException', fail);
  process.once('unhandledRejection', fail);
  try {
    await main();
    process.exit(0);
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): never {
  const sentence = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error && process.env.RETRACE_VERBOSE === '1' ? `\n${error.stack ?? ''}` : '';
  process.stderr.write(`error ${sentence.replaceAll('\n', ' ')}${stack}\n`);
  process.exit(1);
}
