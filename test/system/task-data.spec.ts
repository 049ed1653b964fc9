import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBackend } from '@retrace/compute';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { completeTasks } from '@retrace/environment-sources';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InProcessRun } from '../support/in-process-run.js';

const FILE = fileURLToPath(new URL('../golden/tasks/gsm8k.parquet', import.meta.url));
const NUM_ROWS = 12;
const GROUPS_PER_ROUND = 5;
const GROUP_SIZE = 2;

/** Two epochs of 12 rows are 24 groups: 4 rounds of 5, of which the third begins in the first epoch and ends in the second. */
function gsm8kRecipe(): Promise<Recipe> {
  const recipe = resolveRecipe('bandit-ppo', {
    assignments: [
      'name="gsm8k"',
      'environment="question"',
      `tasks=${JSON.stringify({ train: [FILE], test: [FILE] })}`,
      'numUpdates=null',
      'epochs=2',
      'context={"window":"observation","tokenizer":"byte","maxNewTokens":4}',
      'model.maxPositions=256',
      'model.numLayers=1',
      'model.hiddenSize=16',
      'model.intermediateSize=16',
      'optimizer.epochs=1',
      `collection.groupsPerRound=${GROUPS_PER_ROUND}`,
      `collection.groupSize=${GROUP_SIZE}`,
      'reward.components=[{"reward":"numericEquality","options":{"reference":"reward_model.ground_truth"},"sources":["openai/gsm8k"]}]',
      'evaluation={"everyUpdates":0,"numValidationEpisodes":0,"numTestEpisodes":3}',
    ],
  });
  return completeTasks(recipe);
}

interface Played {
  readonly epochRow: number;
  readonly actions: readonly string[];
}

/**
 * Training episodes in the order in which they began: their row and what the policy answered. A stop may come while a round is played, which
 * is then abandoned and played again.
 */
async function playedIn(run: InProcessRun): Promise<Played[]> {
  const events = await run.episodeEvents();
  const abandoned = new Set(
    events.flatMap((event) =>
      event.kind === 'EpisodeEnded' && event.payload.endReason === 'abandoned' ? [event.episodeId] : [],
    ),
  );
  return events.flatMap((event) => {
    if (event.kind !== 'EpisodeStarted' || event.payload.split !== 'train') return [];
    if (abandoned.has(event.episodeId)) return [];
    const actions = events.flatMap((other) =>
      other.kind === 'StepRecorded' && other.episodeId === event.episodeId ? [other.payload.action] : [],
    );
    const task = event.payload.task as { readonly extra_info: { readonly index: number } };
    return [{ epochRow: task.extra_info.index, actions }];
  });
}

describe('a run over two epochs of a Parquet file of verl', () => {
  let directory: string;
  let whole: Played[];
  let resumed: Played[];
  let numUpdates: number;

  beforeAll(async () => {
    await openBackend();
    directory = await mkdtemp(join(tmpdir(), 'retrace-task-data-'));
    const recipe = await gsm8kRecipe();
    const run = await InProcessRun.begin(join(directory, 'whole'), recipe);
    await run.work();
    whole = await playedIn(run);
    numUpdates = (await run.updates()).length;
    await run.close();
    const killed = await InProcessRun.begin(join(directory, 'killed'), recipe);
    for (const untilUpdate of [1, 3, Infinity]) await killed.work({ untilUpdate });
    resumed = await playedIn(killed);
    await killed.close();
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('has the updates that the epochs fill', () => {
    expect(numUpdates).toBe(4);
    expect(whole).toHaveLength(4 * GROUPS_PER_ROUND * GROUP_SIZE);
  });

  it('plays each row once in the first epoch, and rows of the second in another order', () => {
    const rows = whole.filter((_, at) => at % GROUP_SIZE === 0).map(({ epochRow }) => epochRow);
    const first = rows.slice(0, NUM_ROWS);
    expect(first.toSorted((a, b) => a - b)).toEqual(Array.from({ length: NUM_ROWS }, (_, row) => row));
    const second = rows.slice(NUM_ROWS);
    expect(new Set(second).size).toBe(second.length);
    expect(second).not.toEqual(first.slice(0, second.length));
  });

  it('plays the same episodes when it was stopped in the middle of both epochs and resumed', () => {
    expect(resumed).toEqual(whole);
  });
});
