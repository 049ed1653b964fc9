import {
  resolvePlainRecipe,
  type DataSourceRecipe,
  type Recipe,
  type RecipeOverrides,
} from '@retrace/config';
import type { ControlFold } from '@retrace/trajectory';
import { CliError } from '../cli-error.js';
import { rowsOfQuery, runsToTrainOn, type DataSession } from './complete-data.js';
import { selectRun } from './find-run.js';

/** Options of a training run that has only stored episodes. */
export interface SourceOptions {
  readonly from?: string;
  readonly fromRun?: string;
  readonly fromDataset?: string;
}

/**
 * The stored source that the options name; null where they name none.
 *
 * @throws CliError `OPTION_INVALID` for more than one
 */
export function sourceOf({ from, fromRun, fromDataset }: SourceOptions): DataSourceRecipe | null {
  const sources: DataSourceRecipe[] = [
    ...(from === undefined ? [] : [{ from: 'query', query: from } as const]),
    ...(fromRun === undefined ? [] : [{ from: 'run', run: fromRun } as const]),
    ...(fromDataset === undefined ? [] : [{ from: 'dataset', dataset: fromDataset } as const]),
  ];
  if (sources.length > 1) {
    throw new CliError(
      'OPTION_INVALID',
      'only one of --from, --from-run and --from-dataset can be given; a recipe with "data" mixes several sources',
    );
  }
  return sources[0] ?? null;
}

/** The assignment that makes a source the only one of a recipe. */
export function onlySource(source: DataSourceRecipe): string {
  return `data=${JSON.stringify({ sources: [source] })}`;
}

/** The run that most of the source's episodes come from. */
export async function runOfSource(
  { run, dataset, query }: DataSourceRecipe,
  { session, state }: { readonly session: DataSession; readonly state: ControlFold },
): Promise<string> {
  if (run !== undefined) {
    const collected = run === 'latest' ? await runsToTrainOn(session.client) : new Set<string>();
    const lacking = 'has a group to train on that is complete';
    return selectRun(state.runs, run, { has: ({ runId }) => collected.has(runId), lacking }).runId;
  }
  const ofDataset = `SELECT run_id, episode_id FROM dataset_episodes WHERE dataset = '${dataset?.replaceAll("'", "''") ?? ''}'`;
  const counts = new Map<unknown, number>();
  for await (const { run_id: runId } of rowsOfQuery(session, query ?? ofDataset).rows)
    counts.set(runId, (counts.get(runId) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  if (most !== undefined && typeof most[0] === 'string') return most[0];
  throw new CliError(
    'OPTION_INVALID',
    'the source chose no episode with a run_id, so name a recipe with --recipe',
  );
}

/**
 * The recipe of the run that the episodes come from, without its imitation, on a stored source alone: how a run goes on without the environment
 * that it was collected in.
 *
 * @throws CliError `OPTION_INVALID` for a run that has no recipe; ConfigError
 */
export function recipeOfSource(
  state: ControlFold,
  source: DataSourceRecipe,
  runId: string,
  overridesWith: (own: readonly string[]) => RecipeOverrides,
): Recipe {
  const { started, runId: known } = selectRun(state.runs, runId);
  if (started.runKind !== 'trained' || started.recipe === null) {
    throw new CliError(
      'OPTION_INVALID',
      `run ${known} was recorded and has no recipe; name one with --recipe, whose tokenizer and model its steps were sampled with`,
    );
  }
  return resolvePlainRecipe(
    started.recipe,
    overridesWith(['imitation=null', 'tasks=null', onlySource(source)]),
  );
}
