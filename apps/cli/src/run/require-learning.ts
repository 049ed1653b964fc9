import { describeNothingLearned } from '@retrace/runs';
import { CliError } from '../cli-error.js';

/** @throws CliError `NOTHING_LEARNED` for a run whose updates all learned from nothing */
export function requireLearning(run: Parameters<typeof describeNothingLearned>[0]): void {
  const problem = describeNothingLearned(run);
  if (problem !== null) throw new CliError('NOTHING_LEARNED', problem);
}
