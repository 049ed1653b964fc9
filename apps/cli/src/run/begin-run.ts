import { recipeHash, type Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import { newControlEvent, newRunId, type ControlFold, type Json } from '@retrace/trajectory';
import { type EventLog } from '@retrace/log';
import { encodeEvent } from '@retrace/trajectory/codec';

export interface BegunRun {
  readonly runId: string;
  /** Whether the log already has the run, unfinished. */
  readonly isResumed: boolean;
}

interface BeginRunOptions {
  readonly recipe: Recipe;
  readonly codeVersion: string;
}

/**
 * Finds the newest unfinished run of exactly this recipe (equal hash, so seed and number of updates count), or starts a new one,
 * whose `RunStarted` is in the log when this resolves.
 *
 * @param state fold of the log's control stream up to now
 */
export async function beginRun(
  log: EventLog,
  state: ControlFold,
  options: BeginRunOptions,
): Promise<BegunRun> {
  const { recipe } = options;
  const hash = recipeHash(recipe);
  const unfinished = state.runs.findLast(
    ({ started, ended }) => started.recipeHash === hash && ended === null,
  );
  if (unfinished) return { runId: unfinished.runId, isResumed: true };

  const { name: environment } = await readEnvironment(recipe.environment);
  const runId = newRunId();
  const event = newControlEvent({
    kind: 'RunStarted',
    logId: log.logId,
    runId,
    occurredAtUs: Date.now() * 1000,
    payload: {
      name: recipe.name,
      runKind: 'trained',
      recipe: JSON.parse(JSON.stringify(recipe)) as Json,
      recipeHash: hash,
      seed: recipe.seed,
      environment,
      codeVersion: options.codeVersion,
      baselines: [],
      tags: [],
      metadata: null,
    },
  });
  await log.append('control', 0, [encodeEvent(event)]);
  return { runId, isResumed: false };
}
