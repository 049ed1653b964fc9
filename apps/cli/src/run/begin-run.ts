import { recipeHash, type Recipe } from '@retrace/config';
import { newControlEvent, newRunId, type Baseline, type EventLog, type Json } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { readControlEvents } from './control-events.js';

export interface ActiveRun {
  readonly runId: string;
  readonly recipe: Recipe;
  /** Whether the log held it already, unfinished. */
  readonly isResumed: boolean;
}

export interface BeginRunOptions {
  readonly recipe: Recipe;
  readonly codeVersion: string;
  /** Asked for only when a new run is started. */
  readonly measureBaselines: () => Promise<readonly Baseline[]>;
}

/**
 * The newest unfinished run of exactly this recipe (equal hash: seed and number of updates count), or a new one, whose
 * `RunStarted` is in the log when this resolves.
 */
export async function beginRun(log: EventLog, options: BeginRunOptions): Promise<ActiveRun> {
  const { recipe } = options;
  const hash = recipeHash(recipe);
  const unfinished = await findUnfinishedRun(log, hash);
  if (unfinished !== null) return { runId: unfinished, recipe, isResumed: true };

  const runId = newRunId();
  const event = newControlEvent({
    kind: 'RunStarted',
    logId: log.logId,
    runId,
    occurredAtUs: Date.now() * 1000,
    payload: {
      name: recipe.name,
      recipe: JSON.parse(JSON.stringify(recipe)) as Json,
      recipeHash: hash,
      seed: recipe.seed,
      environment: recipe.environment,
      codeVersion: options.codeVersion,
      baselines: await options.measureBaselines(),
    },
  });
  await log.append('control', 0, [encodeEvent(event)]);
  return { runId, recipe, isResumed: false };
}

async function findUnfinishedRun(log: EventLog, hash: string): Promise<string | null> {
  const unfinished = new Set<string>();
  for await (const { event } of readControlEvents(log)) {
    if (event.kind === 'RunStarted' && event.payload.recipeHash === hash) unfinished.add(event.runId);
    if (event.kind === 'RunEnded') unfinished.delete(event.runId);
  }
  return [...unfinished].at(-1) ?? null;
}
