import { CommanderError } from '@commander-js/extra-typings';

/** A check found a fault, or the command failed. */
const FAILED = 1;
/** The command line, an environment variable or the recipe is wrong. */
const USAGE = 2;
/** The command could not tell: the data is insufficient, or a check failed before it had an answer. */
const COULD_NOT_TELL = 3;

/** Commands whose exit code is an answer, so that a failure without one must not look like a fault that was found. */
const CHECKS: readonly string[] = ['doctor', 'evaluate', 'replay', 'verify'];

const USAGE_CODES: readonly string[] = [
  'ALARM_UNKNOWN',
  'BACKEND_UNAVAILABLE',
  'BACKEND_UNKNOWN',
  'DATASET_EXISTS',
  'DATASET_UNKNOWN',
  'ENGINE_REFUSED',
  'ENGINE_UNAVAILABLE',
  'ENVIRONMENT_VARIABLE_INVALID',
  'EPISODE_UNKNOWN',
  'ESTIMATOR_UNKNOWN',
  'FAMILY_UNKNOWN',
  'FILE_NOT_FOUND',
  'FILE_UNREADABLE',
  'FORMAT_UNKNOWN',
  'KEY_AMBIGUOUS',
  'KEY_UNKNOWN',
  'MODULE_INVALID',
  'NOT_A_FILE',
  'NOT_TRAINABLE',
  'NO_FORK_POINT',
  'NO_POLICY',
  'OPTION_INVALID',
  'PLAY_UNKNOWN',
  'POLICY_INCOMPATIBLE',
  'POLICY_UNKNOWN',
  'RECIPE_INVALID',
  'RECIPE_UNKNOWN',
  'REDACTION_RULES_INVALID',
  'RUN_AMBIGUOUS',
  'RUN_NOT_FOUND',
  'RUN_UNKNOWN',
  'SELECTION_INVALID',
  'SERVICES_IN_USE',
  'SERVICES_MISSING',
  'SILENCE_UNKNOWN',
  'UNKNOWN_AGENT',
  'UNKNOWN_ENVIRONMENT',
  'UPDATE_UNKNOWN',
  'VERSION_UNKNOWN',
  'VERSION_AMBIGUOUS',
  'WHAT_IF_INVALID',
];

const INSUFFICIENT_DATA_CODES: readonly string[] = [
  'EVALUATION_REFUSED',
  'NOTHING_TO_CHECK',
  'NOT_REPLAYABLE',
  'POLICY_REMOVED',
];

/** Faults that a check finds, or that keep it from starting. */
const FAULT_CODES: readonly string[] = [
  'CHECKPOINT_CORRUPT',
  'CHECK_FAILED',
  'LOGPROBS_DIFFER',
  'LOG_BEHIND_STORE',
  'LOG_CORRUPT',
  'LOG_RECORDS_MISSING',
  'LOG_REPLACED',
  'LOG_TRUNCATED',
  'REPLAY_DIFFERS',
  'REWARDS_CHANGED',
  'REWARD_CHANGED',
  'STORE_FAULTY',
  'STORE_OF_OTHER_LOG',
];

/**
 * The exit code for what a command threw. Asking for help or the version is no error.
 *
 * @param command name of the command that ran; '' before one did
 */
export function toExitCode(error: unknown, command: string): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  const code = toErrorCode(error);
  if (USAGE_CODES.includes(code)) return USAGE;
  if (INSUFFICIENT_DATA_CODES.includes(code)) return COULD_NOT_TELL;
  return CHECKS.includes(command) && !FAULT_CODES.includes(code) ? COULD_NOT_TELL : FAILED;
}

/** The code of an error for programs; `USAGE` for a wrong command line, `UNEXPECTED` for an error without a code. */
export function toErrorCode(error: unknown): string {
  if (error instanceof CommanderError) return 'USAGE';
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'UNEXPECTED';
}
