import { bestVersions, type InitRecipe, type Recipe } from '@retrace/config';
import type { CheckpointFiles } from '@retrace/policy';
import type { ControlFold, PolicyPublished, RunState } from '@retrace/trajectory';
import { requireWeights } from '../checkpoints/find-policy.js';
import { PUBLISHING, selectRun, type OnChosen } from '../choose/select-run.js';
import { RunsError } from '../runs-error.js';

/** The assignment that makes a recipe start from a policy that is named as `run:<run>` or `run:<run>@<version>`; null for other names. */
export function assignmentOfPolicy(initFrom: string): string | null {
  const [, run, version] = /^run:([^@]+)(?:@(.+))?$/.exec(initFrom) ?? [];
  if (run === undefined) return null;
  return `initFrom=${JSON.stringify(version === undefined ? { run } : { run, version })}`;
}

/**
 * Finds the policy that a recipe starts from, and names it in the recipe, so that the run always starts from that one.
 *
 * @throws RunsError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`, `POLICY_UNKNOWN`
 */
export function completeInit(recipe: Recipe, state: ControlFold, onChosen?: OnChosen): Recipe {
  const { initFrom } = recipe;
  return initFrom ? { ...recipe, initFrom: withSource(initFrom, state, { onChosen }) } : recipe;
}

/**
 * Finds the teacher of a recipe, and names its weights in the recipe, so that the run always learns from those.
 *
 * @throws RunsError as `completeInit`, and `RUN_ACTIVE` for a run that has not ended; PolicyError for a directory that holds no model
 */
export async function completeTeacher(
  recipe: Recipe,
  state: ControlFold,
  onChosen?: OnChosen,
): Promise<Recipe> {
  const { distillation } = recipe;
  if (!distillation || distillation.teacher.endpoint) return recipe;
  const { teacher } = distillation;
  if (teacher.policy) {
    const policy = withSource(teacher.policy, state, { onChosen, requireFit: requireEnded });
    return { ...recipe, distillation: { ...distillation, teacher: { ...teacher, policy } } };
  }
  const { modelFingerprint } = await import('@retrace/policy');
  const fingerprint = await modelFingerprint(teacher.model ?? '');
  return { ...recipe, distillation: { ...distillation, teacher: { ...teacher, fingerprint } } };
}

interface SourceOptions {
  readonly requireFit?: (run: RunState) => void;
  readonly onChosen?: OnChosen;
}

function withSource(
  wanted: InitRecipe,
  state: ControlFold,
  { requireFit, onChosen }: SourceOptions,
): InitRecipe {
  const run = findSource(state.runs, wanted.run, onChosen);
  requireFit?.(run);
  const { policyVersion, weights } = findVersion(run, wanted.version ?? 'latest');
  return { ...wanted, source: { runId: run.runId, policyVersion, ...weights } };
}

/** Weights of a run that goes on are deleted while it does, and a teacher is asked to the end. */
function requireEnded({ runId, ended }: RunState): void {
  if (ended !== null) return;
  throw new RunsError(
    'RUN_ACTIVE',
    `distillation.teacher.policy.run: run ${runId} has not ended, and the weights of its policies are not kept while it goes on; wait for its end, or name another run`,
  );
}

/**
 * Requires that the weights which a completed recipe starts from, and those that teach it, are there.
 *
 * @throws RunsError `POLICY_REMOVED` when they are not kept any more
 */
export async function requireNamedWeights(
  { initFrom, distillation }: Recipe,
  state: ControlFold,
  checkpoints: CheckpointFiles,
): Promise<void> {
  for (const source of [initFrom?.source, distillation?.teacher.policy?.source]) {
    const run = state.runs.find(({ runId }) => runId === source?.runId);
    const policy = run?.policies.get(source?.policyVersion ?? 0);
    if (run && policy) await requireWeights(run, policy, checkpoints);
  }
}

function findSource(runs: readonly RunState[], wanted: string, onChosen?: OnChosen): RunState {
  const published = runs.filter(({ policies }) => policies.latest !== null);
  // A run that goes on would be another one after each of its updates.
  if (wanted === 'latest') {
    return selectRun(published, 'latest', {
      onChosen,
      needs: {
        has: (run) => run.ended !== null && PUBLISHING.has(run),
        lacking: 'has ended and published a policy',
      },
    });
  }
  const named = published.findLast((run) => PUBLISHING.has(run) && run.started.name === wanted);
  if (named === undefined) return selectRun(published, wanted, { onChosen });
  onChosen?.(wanted, named);
  return named;
}

function findVersion({ runId, policies, validationSuccess }: RunState, version: string): PolicyPublished {
  const number = version === 'best' ? bestVersions(validationSuccess, 1)[0] : Number(version);
  const policy = version === 'latest' ? policies.latest : policies.get(number);
  if (policy) return policy;
  throw new RunsError(
    'POLICY_UNKNOWN',
    version === 'best'
      ? `run ${runId} has no validation yet, so no version is the best; name one by its number`
      : `policy ${version} of run ${runId} does not exist; the run has versions 0 … ${policies.latest?.policyVersion ?? 0}`,
  );
}
