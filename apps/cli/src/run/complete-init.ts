import { bestVersions, type Recipe } from '@retrace/config';
import type { ControlFold, PolicyPublished, RunState } from '@retrace/trajectory';
import { CliError } from '../cli-error.js';
import { selectRun } from './find-run.js';
import { sayChosenRun } from './said-runs.js';

/**
 * Finds the policy that a recipe starts from, and names it in the recipe, so that the run always starts from that one.
 *
 * @throws CliError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`, `POLICY_UNKNOWN`
 */
export function completeInit(recipe: Recipe, state: ControlFold): Recipe {
  const { initFrom } = recipe;
  if (!initFrom) return recipe;
  const run = findSource(state.runs, initFrom.run);
  const policy = findVersion(run, initFrom.version ?? 'latest');
  const { policyVersion, weights } = policy;
  const source = { runId: run.runId, policyVersion, ...weights };
  return { ...recipe, initFrom: { ...initFrom, source } };
}

function findSource(runs: readonly RunState[], wanted: string): RunState {
  const published = runs.filter(({ policies }) => policies.latest !== null);
  // A run that goes on would be another one after each of its updates.
  if (wanted === 'latest') {
    return selectRun(published, 'latest', {
      has: ({ ended }) => ended !== null,
      lacking: 'has ended and published a policy',
    });
  }
  const named = published.findLast(({ started }) => started.name === wanted);
  if (named === undefined) return selectRun(published, wanted);
  sayChosenRun(wanted, named);
  return named;
}

function findVersion({ runId, policies, validationSuccess }: RunState, version: string): PolicyPublished {
  const number = version === 'best' ? bestVersions(validationSuccess, 1)[0] : Number(version);
  const policy = version === 'latest' ? policies.latest : policies.get(number);
  if (policy) return policy;
  throw new CliError(
    'POLICY_UNKNOWN',
    version === 'best'
      ? `run ${runId} has no validation yet, so no version is the best; name one by its number`
      : `policy ${version} of run ${runId} does not exist; the run has versions 0 … ${policies.latest?.policyVersion ?? 0}`,
  );
}
