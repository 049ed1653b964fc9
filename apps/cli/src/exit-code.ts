import { CommanderError } from '@commander-js/extra-typings';

/** The command failed, or a check found a fault. */
const FAILED = 1;
/** The command line, or the recipe that it names, is wrong. */
const USAGE = 2;
/** The data is insufficient for an answer. */
const INSUFFICIENT_DATA = 3;

const EXIT_CODES: Readonly<Record<string, number>> = {
  BACKEND_UNKNOWN: USAGE,
  ESTIMATOR_UNKNOWN: USAGE,
  RECIPE_INVALID: USAGE,
  RECIPE_UNKNOWN: USAGE,
  EVALUATION_REFUSED: INSUFFICIENT_DATA,
  NOT_REPLAYABLE: INSUFFICIENT_DATA,
  POLICY_REMOVED: INSUFFICIENT_DATA,
};

interface Exit {
  readonly exitCode: number;
  /** Whether the error is on the terminal already: commander prints its own. */
  readonly isPrinted: boolean;
}

/** The exit code for what a command threw. Asking for help or the version is no error. */
export function exitCodeOf(error: unknown): Exit {
  if (error instanceof CommanderError) {
    return { exitCode: error.exitCode === 0 ? 0 : USAGE, isPrinted: true };
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return { exitCode: (typeof code === 'string' ? EXIT_CODES[code] : undefined) ?? FAILED, isPrinted: false };
}
