import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import { openLmdbLog } from '@retrace/log/lmdb';
import { CheckpointFiles, createTokenizer, evaluateLogprobs, loadPolicyCheckpoint } from '@retrace/policy';
import { catchUp } from '@retrace/store';
import { openStoreFixture } from '@retrace/store-server/testing';
import { TensorflowEngine } from '@retrace/trainer';
import {
  buildTokenBatch,
  type AnyEvent,
  type UpdateApplied,
  type UpdateTokensTraced,
} from '@retrace/trajectory';
import { columnsFromEvents } from '@retrace/trajectory/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InProcessRun, type UpdatePoint } from './support/in-process-run.js';

const CLIP = 0.01;
const KL_COEFFICIENT = 0.1;
/** Every epoch is one mini-batch, so an update has two optimizer steps. */
const SMALL = [
  ...[
    'updateTokens=true',
    'collection.groupsPerRound=8',
    'collection.groupSize=4',
    'optimizer.warmupFraction=0',
  ],
  ...['optimizer.learningRate=0.005', 'optimizer.epochs=2', 'optimizer.miniBatchActionTokens=100000'],
  ...[`loss.clipLow=${CLIP}`, `loss.clipHigh=${CLIP}`, `loss.kl.coefficient=${KL_COEFFICIENT}`],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'checkpoint.weights=null'],
];
const GRPO = [...SMALL, 'advantage={"estimator":"grpo","options":{}}'];

const recipeOf = (name: string, assignments: readonly string[]) =>
  resolveRecipe(name, { numUpdates: 3, assignments: [...assignments] });

/** A token of a trace, with what the log says of it. */
interface TracedToken {
  readonly optimizerStep: number;
  readonly key: string;
  readonly episodeId: string;
  readonly ratio: number;
  readonly advantage: number;
  readonly value: number;
  readonly kl: number;
  readonly entropy: number;
  readonly clipped: number;
  readonly behaviorLogprob: number;
}

/** A policy's view of each action token, by `tokenKey`. */
type Evaluated = ReadonlyMap<string, { logprob: number; entropy: number; value: number }>;

const tokenKey = (episodeId: string, step: number, position: number) => `${episodeId} ${step} ${position}`;

let directory: string;

beforeAll(async () => {
  await openBackend();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-tokens-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function finished(name: string, recipe: Recipe): Promise<InProcessRun> {
  const run = await InProcessRun.begin(join(directory, name), recipe);
  await run.work();
  return run;
}

/** The episodes of an update, each with its events. */
async function episodesOf(run: InProcessRun, updateNumber: number): Promise<Map<string, AnyEvent[]>> {
  const trace = (await run.traces()).find((each) => each.updateNumber === updateNumber);
  const episodes = new Map(trace?.episodeIds.map((episodeId): [string, AnyEvent[]] => [episodeId, []]));
  for (const event of await run.episodeEvents()) episodes.get(event.episodeId)?.push(event);
  return episodes;
}

async function tokensOf(run: InProcessRun, updateNumber: number): Promise<TracedToken[]> {
  const episodes = await episodesOf(run, updateNumber);
  const episodeIds = [...episodes.keys()];
  const traces = (await run.tokenTraces()).filter((each) => each.updateNumber === updateNumber);
  expect(traces).toHaveLength(1);
  const [trace] = traces;
  return Array.from(trace.optimizerSteps, (optimizerStep, m) => {
    const episodeId = episodeIds[trace.episodes[m]];
    const steps = episodes
      .get(episodeId)
      ?.flatMap((event) => (event.kind === 'StepRecorded' ? [event.payload] : []));
    const step = steps?.[trace.steps[m]];
    const position = trace.positions[m];
    expect(step?.actionMask[position]).toBe(1);
    return {
      ...{ optimizerStep, episodeId, key: tokenKey(episodeId, trace.steps[m], position) },
      ...{ ratio: trace.ratios[m], advantage: trace.advantages[m], value: trace.values[m] },
      ...{ kl: trace.kls[m], entropy: trace.entropies[m], clipped: trace.clipped[m] },
      behaviorLogprob: step?.tokenLogprobs[position] ?? Number.NaN,
    };
  });
}

/** Evaluates the action tokens of an update of `run` under policy version `version` of the run `of`. */
async function evaluate(
  run: InProcessRun,
  updateNumber: number,
  of: {
    readonly run: InProcessRun;
    readonly name: string;
    readonly recipe: Recipe;
    readonly version: number;
  },
): Promise<Evaluated> {
  const { recipe } = of;
  const published = (await of.run.controlEvents()).flatMap((event) =>
    event.kind === 'PolicyPublished' && event.payload.policyVersion === of.version ? [event.payload] : [],
  );
  const { words } = await readEnvironment(recipe.environment);
  const { vocabSize, hash: tokenizerHash } = createTokenizer('word', words ?? []);
  const checkpoints = new CheckpointFiles(join(directory, of.name, 'checkpoints'));
  const engine = new TensorflowEngine({ recipe, checkpoints, vocabSize, tokenizerHash });
  await loadPolicyCheckpoint(engine.model, checkpoints, published[0].weights);
  const episodes = await episodesOf(run, updateNumber);
  const batch = buildTokenBatch(columnsFromEvents([...episodes.keys()], episodes));
  const { logprobs, entropies, values } = await evaluateLogprobs(engine.model, batch, {
    ...{ temperature: 1, maxTokensPerMicroBatch: 4096, actionMask: batch.actionMask },
  });
  await engine.close();
  const evaluated = new Map<string, { logprob: number; entropy: number; value: number }>();
  let action = 0;
  for (const [episodeId, events] of episodes) {
    const steps = events.flatMap((event) => (event.kind === 'StepRecorded' ? [event.payload] : []));
    steps.forEach(({ actionMask }, step) => {
      actionMask.forEach((sampled, position) => {
        if (sampled === 0) return;
        const n = batch.actionTokens[action++];
        const value = values?.[n] ?? Number.NaN;
        evaluated.set(tokenKey(episodeId, step, position), {
          logprob: logprobs[n],
          entropy: entropies[n],
          value,
        });
      });
    });
  }
  return evaluated;
}

function metricOf({ metricNames, metricValues }: UpdateApplied, name: string): number {
  return metricValues[metricNames.indexOf(name)];
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** PPO clips ρ above 1 + ε where A > 0 and below 1 − ε where A < 0. */
const isClipped = (ratio: number, advantage: number) =>
  advantage > 0 ? ratio > 1 + CLIP : advantage < 0 && ratio < 1 - CLIP;

describe('update tokens of a run by GRPO with a KL term', () => {
  it('are what behavior logprobs, policy weights and returns in the log give, before each optimizer step', async () => {
    const recipe = recipeOf('memory-bandit-grpo', GRPO);
    const run = await finished('run', recipe);
    // Its policy 1 is that of the run between the two steps of update 1.
    const onceRecipe = recipeOf('memory-bandit-grpo', [...GRPO, 'optimizer.epochs=1']);
    const once = await finished('once', onceRecipe);
    const first = await evaluate(run, 1, { run, name: 'run', recipe, version: 0 });
    const cases = [
      { updateNumber: 1, step: 1, policy: first, reference: first },
      {
        ...{ updateNumber: 1, step: 2, reference: first },
        policy: await evaluate(run, 1, { run: once, name: 'once', recipe: onceRecipe, version: 1 }),
      },
      {
        ...{ updateNumber: 2, step: 1 },
        policy: await evaluate(run, 2, { run, name: 'run', recipe, version: 1 }),
        reference: await evaluate(run, 2, { run, name: 'run', recipe, version: 0 }),
      },
    ];
    for (const { updateNumber, step, policy, reference } of cases) {
      const tokens = (await tokensOf(run, updateNumber)).filter(
        ({ optimizerStep }) => optimizerStep === step,
      );
      expect(new Set(tokens.map(({ key }) => key))).toEqual(new Set(policy.keys()));
      expect(tokens).toHaveLength(policy.size);
      const advantages = await advantagesByHand(run, updateNumber);
      for (const token of tokens) {
        const { logprob, entropy } = policy.get(token.key) ?? { logprob: NaN, entropy: NaN };
        const difference = (reference.get(token.key)?.logprob ?? NaN) - logprob;
        expect(token.ratio).toBeCloseTo(Math.exp(logprob - token.behaviorLogprob), 4);
        expect(token.entropy).toBeCloseTo(entropy, 4);
        expect(token.kl).toBeCloseTo(Math.exp(difference) - difference - 1, 5);
        expect(token.advantage).toBeCloseTo(advantages.get(token.episodeId) ?? NaN, 4);
        expect(token.value).toBeNaN();
      }
    }
    await once.close();
    await run.close();
  });

  it('agree with the metrics of their update: clip fraction, KL, entropy and the policy loss', async () => {
    const run = await finished('run', recipeOf('memory-bandit-grpo', GRPO));
    for (const update of await run.updates()) {
      const tokens = await tokensOf(run, update.updateNumber);
      const perStep = [1, 2].map((step) => tokens.filter(({ optimizerStep }) => optimizerStep === step));
      const measured = (of: (token: TracedToken) => number) =>
        mean(perStep.map((ofStep) => mean(ofStep.map(of))));
      for (const { clipped, ratio, advantage } of tokens)
        expect(clipped).toBe(Number(isClipped(ratio, advantage)));
      expect(measured(({ clipped }) => clipped)).toBeCloseTo(metricOf(update, 'train/clipFraction'), 12);
      expect(measured(({ kl }) => kl)).toBeCloseTo(metricOf(update, 'train/kl'), 6);
      expect(measured(({ entropy }) => entropy)).toBeCloseTo(metricOf(update, 'train/entropy'), 5);
      // Aggregation `tokenMean`: −min(Aρ, A·clip ρ), mean over the tokens of a step.
      const loss = measured(({ ratio, advantage }) => {
        const held = Math.max(1 - CLIP, Math.min(1 + CLIP, ratio));
        return -Math.min(advantage * ratio, advantage * held);
      });
      expect(loss).toBeCloseTo(metricOf(update, 'train/policyLoss'), 5);
    }
    const clipped = (await run.tokenTraces()).map((trace) =>
      trace.clipped.reduce((sum, bit) => sum + bit, 0),
    );
    expect(Math.min(...clipped)).toBeGreaterThan(0);
    await run.close();
  });

  it('are the same in a replay, and do not change what is trained', { tags: 'release' }, async () => {
    const run = await finished('run', recipeOf('memory-bandit-grpo', GRPO));
    for (const updateNumber of [1, 2, 3])
      expect(await run.replay(updateNumber)).toMatchObject({ sameTokens: true, sameWeights: true });
    const without = await finished(
      'without',
      recipeOf('memory-bandit-grpo', [...GRPO, 'updateTokens=false']),
    );
    expect(await without.tokenTraces()).toEqual([]);
    expect(await without.replay(2)).toMatchObject({ sameTokens: null, sameWeights: true });
    const weightsOf = async (of: InProcessRun) => (await of.updates()).map(({ weights }) => weights.sha256);
    expect(await weightsOf(without)).toEqual(await weightsOf(run));
    await without.close();
    await run.close();
  });
});

/** (R − μ)/(σ + 1e-6) of each episode, σ of the sample; 0 in a group of equal returns. */
async function advantagesByHand(
  run: InProcessRun,
  updateNumber: number,
): Promise<ReadonlyMap<string, number>> {
  const groups = new Map<string, { episodeId: string; total: number }[]>();
  for (const [episodeId, events] of await episodesOf(run, updateNumber)) {
    const started = events.find((event) => event.kind === 'EpisodeStarted');
    const rewards = events.flatMap((event) =>
      event.kind === 'StepRecorded' ? [event.payload.reward ?? NaN] : [],
    );
    const group = started?.payload.groupId ?? '';
    const total = rewards.reduce((sum, reward) => sum + reward, 0);
    groups.set(group, [...(groups.get(group) ?? []), { episodeId, total }]);
  }
  const advantages = new Map<string, number>();
  for (const members of groups.values()) {
    const centre = mean(members.map(({ total }) => total));
    const squares = members.reduce((sum, { total }) => sum + (total - centre) ** 2, 0);
    const deviation = Math.sqrt(squares / (members.length - 1));
    for (const { episodeId, total } of members)
      advantages.set(episodeId, (total - centre) / (deviation + 1e-6));
  }
  return advantages;
}

describe('update tokens of a run with a critic', () => {
  it('have its values, and KL that is charged to rewards at the start of the update', async () => {
    const recipe = recipeOf('bandit-ppo', [...SMALL, 'loss.kl.in=reward']);
    const run = await finished('run', recipe);
    const policy = await evaluate(run, 2, { run, name: 'run', recipe, version: 1 });
    const reference = await evaluate(run, 2, { run, name: 'run', recipe, version: 0 });
    const tokens = await tokensOf(run, 2);
    expect(tokens).toHaveLength(2 * policy.size);
    for (const token of tokens) {
      const { logprob, value } = policy.get(token.key) ?? { logprob: NaN, value: NaN };
      const difference = (reference.get(token.key)?.logprob ?? NaN) - logprob;
      expect(token.kl).toBeCloseTo(Math.exp(difference) - difference - 1, 5);
      if (token.optimizerStep === 1) expect(token.value).toBeCloseTo(value, 4);
    }
    const [first, second] = [1, 2].map((step) =>
      tokens.filter(({ optimizerStep }) => optimizerStep === step),
    );
    expect(mean(first.map(({ value }) => value))).not.toBeCloseTo(mean(second.map(({ value }) => value)), 6);
    await run.close();
  });
});

describe('update tokens of updates without a policy gradient', () => {
  const few = ['environment=bandit', 'collection.groupsPerRound=4', 'collection.concurrentEpisodes=16'];
  const silent = ['updateTokens=true', 'evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'];

  it(
    'have the ratio 1 and the derivative of the pair as advantage where the update is by preference',
    { tags: 'release' },
    async () => {
      const run = await finished(
        'run',
        recipeOf('frozen-lake-dpo', [...few, ...silent, 'optimizer.epochs=1']),
      );
      const tokens = await tokensOf(run, 2);
      expect(tokens.length).toBeGreaterThan(1);
      for (const { ratio, clipped, value } of tokens) {
        expect(ratio).toBe(1);
        expect(clipped).toBe(0);
        expect(value).toBeNaN();
      }
      // A pair pulls its chosen episode up by as much as it pushes the rejected one down.
      expect(tokens.reduce((sum, { advantage }) => sum + advantage, 0)).toBeCloseTo(0, 5);
      expect(Math.max(...tokens.map(({ advantage }) => advantage))).toBeGreaterThan(0);
      expect(await run.replay(2)).toMatchObject({ sameTokens: true });
      await run.close();
    },
  );

  it('have neither ratio, advantage, value nor KL in imitation', { tags: 'release' }, async () => {
    const imitation =
      'imitation={"agent":"expert","numEpisodes":8,"numUpdates":2,"episodesPerUpdate":8,"learningRate":0.01}';
    const run = await finished('run', recipeOf('bandit-ppo', [...silent, imitation]));
    const tokens = await tokensOf(run, 1);
    expect(tokens).toHaveLength(8);
    for (const { ratio, advantage, value, kl, entropy } of tokens) {
      expect([ratio, advantage, value, kl]).toEqual([NaN, NaN, NaN, NaN]);
      expect(entropy).toBeGreaterThan(0);
    }
    await run.close();
  });

  it(
    'show the passes and mini-batches of imitation, which leave those of later updates alone',
    { tags: 'release' },
    async () => {
      const imitation = {
        ...{ agent: 'expert', numEpisodes: 8, numUpdates: 1, episodesPerUpdate: 8, learningRate: 0.01 },
        ...{ epochs: 3, miniBatchActionTokens: 4 },
      };
      const settings = [
        `imitation=${JSON.stringify(imitation)}`,
        'optimizer.epochs=1',
        'optimizer.miniBatchActionTokens=4096',
      ];
      const run = await finished('run', recipeOf('bandit-ppo', [...silent, ...settings]));
      const stepsOf = async (updateNumber: number) =>
        (await tokensOf(run, updateNumber)).map(({ optimizerStep }) => optimizerStep);
      // One token an episode: three passes over eight, by fours.
      expect(await stepsOf(1)).toEqual([1, 2, 3, 4, 5, 6].flatMap((step) => Array<number>(4).fill(step)));
      expect(new Set(await stepsOf(2))).toEqual(new Set([1]));
      expect(await run.replay(1)).toMatchObject({ sameWeights: true, sameTokens: true });
      await run.close();
    },
  );
});

describe('update tokens of a trainer that is killed', () => {
  const recipe = recipeOf('bandit-ppo', SMALL);
  const rowsOf = (traces: readonly UpdateTokensTraced[]) =>
    traces.map(({ planId: _, epoch: _epoch, ...rows }) => rows);

  const killedAt = (updateNumber: number, at: UpdatePoint) => (point: UpdatePoint, ofUpdate: number) => {
    if (point === at && ofUpdate === updateNumber) throw new Error('killed');
  };

  const onceAfterResume = 'are there exactly once after it resumes, as of a run that was never killed: %s';
  const areThereOnce = async (at: 'planned' | 'filesWritten' | 'committed') => {
    const whole = await finished('whole', recipe);
    const run = await InProcessRun.begin(join(directory, 'run'), recipe);
    await expect(run.work({ onPoint: killedAt(2, at) })).rejects.toThrow('killed');
    expect(await run.tokenTraces()).toHaveLength(at === 'committed' ? 2 : 1);
    await run.close();
    const resumed = await InProcessRun.reopen(join(directory, 'run'), recipe, run.id);
    await resumed.work();
    expect(rowsOf(await resumed.tokenTraces())).toEqual(rowsOf(await whole.tokenTraces()));
    const commits = (await resumed.updates()).map(({ planId, epoch }) => ({ planId, epoch }));
    const traced = (await resumed.tokenTraces()).map(({ planId, epoch }) => ({ planId, epoch }));
    expect(traced).toEqual(commits);
    await resumed.close();
    await whole.close();
  };
  it.each(['filesWritten'] as const)(onceAfterResume, areThereOnce);
  it.each(['planned', 'committed'] as const)(onceAfterResume, { tags: 'release' }, areThereOnce);
});

describe('update tokens in SQL', () => {
  let store: Awaited<ReturnType<typeof openStoreFixture>>;
  beforeAll(async () => {
    store = await openStoreFixture();
  });
  afterAll(() => store.close());

  it(
    'join the steps that they were sampled in, and give the clip fraction of their update',
    { tags: 'release' },
    async () => {
      const run = await finished('run', recipeOf('bandit-ppo', SMALL));
      const updates = await run.updates();
      await run.close();
      const log = await openLmdbLog({ path: join(directory, 'run', 'log'), createdBy: 'test' });
      await catchUp(log, store.client);
      await log.close();
      const rows = await store.client.queryRows<{ u: number; clip: number; isAction: number; ratio: number }>(
        `SELECT update_number AS u, avg(of_step.clip) AS clip, min(of_step.is_action) AS isAction, max(of_step.ratio) AS ratio
       FROM
       (
         SELECT t.update_number, optimizer_step, avg(clipped) AS clip, min(s.action_mask[position]) AS is_action,
           maxIf(abs(t.ratio - 1), optimizer_step = 1) AS ratio
         FROM update_tokens AS t
         INNER JOIN steps AS s ON s.run_id = t.episode_run_id AND s.episode_id = t.episode_id AND s.step = t.step
         WHERE t.run_id = {runId:String}
         GROUP BY t.update_number, optimizer_step
       ) AS of_step
       GROUP BY u ORDER BY u`,
        { params: { runId: run.id } },
      );
      expect(rows).toHaveLength(updates.length);
      rows.forEach(({ clip, isAction, ratio }, i) => {
        expect(clip).toBeCloseTo(metricOf(updates[i], 'train/clipFraction'), 12);
        expect(isAction).toBe(1);
        expect(ratio).toBeLessThan(1e-4);
      });
    },
  );
});
