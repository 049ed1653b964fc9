import { readVariables } from '../environment/read-variables.js';
import type { Environment } from '../environment/environment.js';
import { superviseThisProcess, type Supervised } from './supervised.js';

export interface RunProcessOptions {
  /** How long the process may take to finish when its supervisor has died (default 5 s). */
  readonly graceMs?: number;
}

/**
 * Runs the main function of a role's process: exit code 0 when it returns; when it throws, or when anything is thrown in the
 * background, the error's sentence on stderr and exit code 1. The supervisor shows that sentence and counts it. `RETRACE_VERBOSE=1` adds
 * the stack.
 */
export async function runProcess(
  environment: Environment,
  main: (supervised: Supervised) => Promise<void>,
  { graceMs }: RunProcessOptions = {},
): Promise<void> {
  const { RETRACE_VERBOSE: verbose, RETRACE_HEARTBEAT_FILE: heartbeatFile } = readVariables(environment, {
    reads: ['RETRACE_VERBOSE', 'RETRACE_HEARTBEAT_FILE'],
  });
  const fail = (error: unknown): never => {
    process.stderr.write(`error ${describe(error, verbose === '1')}\n`);
    process.exit(1);
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

function describe(error: unknown, withStack: boolean): string {
  if (!(error instanceof Error)) return String(error);
  const sentence = error.message.replaceAll('\n', ' ');
  return withStack ? `${sentence}\n${error.stack ?? ''}` : sentence;
}
