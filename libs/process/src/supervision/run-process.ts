import { readVariables } from '../environment/read-variables.js';
import { superviseThisProcess, type Supervised, type SuperviseOptions } from './supervised.js';

/** The `exitCode` of an error that the next start would only repeat; nothing starts the process again. */
export const FINAL_FAILURE_EXIT_CODE = 70;

/**
 * Runs the main function of a role's process. Exits with 0 when it returns. When it throws, or anything is thrown in the background,
 * writes the error's message to stderr in one line, which the supervisor shows and counts, and exits with 1, or with the error's
 * `exitCode` where it has one. `RETRACE_VERBOSE=1` adds the stack.
 */
export async function runProcess(
  environment: NodeJS.ProcessEnv,
  main: (supervised: Supervised) => Promise<void>,
  { graceMs }: Pick<SuperviseOptions, 'graceMs'> = {},
): Promise<void> {
  const { RETRACE_VERBOSE: verbose, RETRACE_HEARTBEAT_FILE: heartbeatFile } = readVariables(environment, {
    reads: ['RETRACE_VERBOSE', 'RETRACE_HEARTBEAT_FILE'],
  });
  const fail = (error: unknown): never => {
    process.stderr.write(`error ${describe(error, verbose === '1')}\n`);
    process.exit(toExitCode(error));
  };
  process.once('uncaughtException', fail);
  process.once('unhandledRejection', fail);
  try {
    await main(superviseThisProcess({ graceMs, heartbeatFile }));
  } catch (error) {
    fail(error);
  }
  process.exit(0);
}

function toExitCode(error: unknown): number {
  const code = error instanceof Error && 'exitCode' in error ? error.exitCode : undefined;
  return typeof code === 'number' ? code : 1;
}

function describe(error: unknown, withStack: boolean): string {
  if (!(error instanceof Error)) return String(error);
  const sentence = error.message.replaceAll('\n', ' ');
  return withStack ? `${sentence}\n${error.stack ?? ''}` : sentence;
}
