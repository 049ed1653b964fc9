import {
  resolvePlainRecipe,
  type DataSourceRecipe,
  type Recipe,
  type RecipeOverrides,
} from '@retrace/config';
import type { ControlFold, RunState } from '@retrace/trajectory';
import { selectRun, type OnChosen } from '../choose/select-run.js';
import { RunsError } from '../runs-error.js';
import { runsToTrainOn, type DataSession } from './complete-data.js';

/** The assignment that makes a source the only one of a recipe. */
export function onlySource(source: DataSourceRecipe): string {
  return `data=${JSON.stringify({ sources: [source] })}`;
}

/** The run that most of the source's episodes come from. */
export async function runOfSource(
  { run, dataset, query }: DataSourceRecipe,
  {
    session,
    state,
    onChosen,
  }: {
    readonly session: Pick<DataSession, 'client' | 'readUserRows'>;
    readonly state: ControlFold;
    readonly onChosen?: OnChosen;
  },
): Promise<string> {
  if (run !== undefined) {
    const collected = run === 'latest' ? await runsToTrainOn(session.client) : new Set<string>();
    const lacking = 'has a group to train on that is complete';
    const needs = { has: ({ runId }: RunState) => collected.has(runId), lacking };
    return selectRun(state.runs, run, { needs, onChosen }).runId;
  }
  const ofDataset = `SELECT run_id, episode_id FROM dataset_episodes WHERE dataset = '${dataset?.replaceAll("'", "''") ?? ''}'`;
  const counts = new Map<unknown, number>();
  for (const { run_id: runId } of await session.readUserRows(query ?? ofDataset))
    counts.set(runId, (counts.get(runId) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  if (most !== undefined && typeof most[0] === 'string') return most[0];
  throw new RunsError(
    'OPTION_INVALID',
    'the source chose no episode with a run_id, so name a recipe with --recipe',
  );
}

/**
 * The recipe of the run that the episodes come from, without its imitation, on a stored source alone: how a run goes on without the environment
 * that it was collected in.
 *
 * @throws RunsError `OPTION_INVALID` for a run that has no recipe; ConfigError
 */
export function recipeOfSource(
  state: ControlFold,
  source: DataSourceRecipe,
  runId: string,
  overridesWith: (own: readonly string[]) => RecipeOverrides,
): Recipe {
  const { started, runId: known } = selectRun(state.runs, runId);
  if (started.runKind !== 'trained' || started.recipe === null) {
    throw new RunsError(
      'OPTION_INVALID',
      `run ${known} was recorded and has no recipe; name one with --recipe, whose tokenizer and model its steps were sampled with`,
    );
  }
  return resolvePlainRecipe(
    started.recipe,
    overridesWith(['imitation=null', 'tasks=null', onlySource(source)]),
  );
}
