import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { parseRecipe, resolveRecipe, type Recipe } from '@retrace/config';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InProcessRun } from './support/in-process-run.js';

type AgentSection = NonNullable<Recipe['agent']>;

/** A group of two episodes of a frozen lake, whose model writes six bytes a turn. */
function recipeWith(agent: AgentSection, { maxPositions = 1200 } = {}): Recipe {
  const isFull = agent.history?.policy === 'full' || agent.module !== undefined;
  const base = resolveRecipe('frozen-lake-grpo', {
    numUpdates: 1,
    assignments: [
      `model.maxPositions=${maxPositions}`,
      'model.hiddenSize=8',
      'model.numLayers=1',
      'model.numHeads=1',
      'model.numKeyValueHeads=1',
      'model.headDim=4',
      'model.intermediateSize=8',
      'collection.groupsPerRound=1',
      'collection.groupSize=2',
      'evaluation.everyUpdates=0',
      'evaluation.numTestEpisodes=0',
      'optimizer.epochs=1',
      'optimizer.miniBatchActionTokens=1000000',
      'context.tokenizer=byte',
      `context.window=${isFull ? 'history' : 'observation'}`,
      'context.maxNewTokens=6',
    ],
  });
  return parseRecipe({ ...base, agent });
}

describe('a run with the section agent', () => {
  let directory: string;
  beforeAll(async () => {
    await openBackend();
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-agent-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  async function play(recipe: Recipe) {
    const run = await InProcessRun.begin(directory, recipe);
    await run.work();
    const updates = await run.updates();
    const events = await run.episodeEvents();
    await run.close();
    const metric = (name: string) =>
      updates.map(({ metricNames, metricValues }) => metricValues[metricNames.indexOf(name)]);
    const steps = events.flatMap((event) => (event.kind === 'StepRecorded' ? [event.payload] : []));
    const ends = events.flatMap((event) => (event.kind === 'EpisodeEnded' ? [event.payload] : []));
    return { metric, steps, ends };
  }

  const POLICIES: readonly (readonly [name: string, agent: AgentSection])[] = [
    ['observation', { maxTurns: 3 }],
    ['last two turns', { history: { policy: 'last', length: 2 }, maxTurns: 4 }],
    ['full', { history: { policy: 'full' }, maxTurns: 4 }],
    ['full without thoughts', { history: { policy: 'full', keepThoughts: false }, maxTurns: 3 }],
    ['summary', { history: { policy: 'summary', length: 2 }, maxTurns: 3 }],
    [
      'trained summary',
      {
        history: { policy: 'summary', length: 1, trainSummaries: true },
        maxTurns: 3,
        systemTemplate: 'You walk.',
      },
    ],
  ];

  it.each(POLICIES)('gives the trainer the logprobs that were sampled with: %s', async (_, agent) => {
    const { metric, steps } = await play(recipeWith(agent));
    expect(steps.length).toBeGreaterThan(3);
    for (const deviation of metric('train/ratioMaxDeviation')) expect(deviation).toBeLessThan(1e-4);
  });
});
