import { RunsError } from '@retrace/runs';
import { CliError } from '../cli-error.js';

/** Whether an error says in a sentence for the user why a run or a command is refused. */
export function isRefusal(error: unknown): error is CliError | RunsError {
  return error instanceof CliError || error instanceof RunsError;
}
