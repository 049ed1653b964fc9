import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { resolveRecipe, type Recipe } from '@retrace/config';
import {
  CheckpointFiles,
  LORA_TARGETS,
  openPolicyText,
  startFromCheckpoint,
  type TrainingBatch,
} from '@retrace/policy';
import { openEndpointTeacher, TensorflowEngine, type UpdateEngine } from '@retrace/trainer';
import { readAdapterFile, TinkerEngine } from '@retrace/trainer/tinker';
import type { TokenBatch } from '@retrace/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StepLoss } from '../../apps/trainer/src/engine/update-engine.js';
import { describeUpdateEngine } from '../../apps/trainer/src/engine/update-engine.contract.js';
import { makeDataDirectory, root, runRetrace, startRetrace } from '../support/cli.mjs';
import { startSkyrl } from '../support/skyrl-server.mjs';

/** Of a small run that learns on the processor; the first pass of each length is compiled. */
const RUN_MS = 400_000;
const NUM_UPDATES = 10;
/** Tokens of `served_model.py`. */
const VOCAB_SIZE = 258;
/** As `engines.md` of the design has it for this server: its sums are in another order. */
const LOGPROB_TOLERANCE = 2e-3;
const GRADIENT_TOLERANCE = 1e-3;
/** So much more than any gradient that it alone divides them. */
const EPSILON = 1e4;
const NUM_LAYERS = 2;

const directory = makeDataDirectory();
const server = await startSkyrl();
const sessions: ReturnType<typeof startRetrace>[] = [];
const checkpoints = new CheckpointFiles(join(directory.path, 'checkpoints'));
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.killTree()));
  if ('stop' in server) await server.stop();
  directory.remove();
});

type Started = Extract<typeof server, { readonly url: string }>;

/** Assignments that make of a built-in recipe one that the server can train. */
function served({ url, model }: Started): readonly string[] {
  const lora = JSON.stringify({ rank: 8, alpha: 32, targets: LORA_TARGETS });
  return [
    ...[
      'model=null',
      'context.tokenizer=model',
      `policy={"model":"${model}","maxPositions":512,"lora":${lora}}`,
    ],
    ...['loss.valueCoefficient=0', 'loss.entropyCoefficient=0', 'optimizer.maxGradientNorm=1e9'],
    ...[
      ...['collection.groupsPerRound=8', 'collection.groupSize=8'],
      'advantage={"estimator":"grpo","options":{}}',
      `engine={"kind":"tinker","url":"${url}"}`,
    ],
  ];
}

const options = (recipe: Recipe) => ({ recipe, checkpoints, vocabSize: VOCAB_SIZE, tokenizerHash: '' });

/** Writes the recipe of a run in which the policy learns to answer with capitals. */
function writeRecipe(started: Started, ...more: string[]): string {
  const capitals = { module: join(root, 'test/support/capitals.ts') };
  const recipe = resolveRecipe('bandit-ppo', {
    assignments: [
      ...served(started),
      `environment=${JSON.stringify(capitals)}`,
      'context={"window":"observation","tokenizer":"model","maxNewTokens":8}',
      'reward.components=[{"reward":"goal"}]',
      'optimizer.learningRate=0.003',
      ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', ...more],
    ],
  });
  const path = join(directory.path, `capitals-${more.length}.json`);
  writeFileSync(path, JSON.stringify({ ...recipe, name: 'capitals-in-skyrl' }));
  return path;
}

const TOKENS = {
  tokenIds: Int32Array.of(9, 40, 70, 100, 130, 20, 60, 90, 33, 80, 120, 160, 200),
  sequenceOffsets: Int32Array.of(0, 5, 8, 13),
};
const MASK = Uint8Array.of(0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1);
const PPO: StepLoss = {
  ...{ policyLoss: 'ppo', policyLossOptions: { clipLow: 0.2, clipHigh: 0.2, dualClip: null } },
  ...{ valueCoefficient: 0, valueClip: null, entropyCoefficient: 0, klCoefficient: 0 },
  ...{ klEstimator: 'k3', klStraightThrough: false, temperature: 1 },
};
const LOSSES: Readonly<Record<string, StepLoss>> = {
  'PPO and GRPO': PPO,
  'a KL to a reference': { ...PPO, klCoefficient: 0.1 },
  GSPO: { ...PPO, policyLoss: 'gspo', policyLossOptions: {} },
  'imitation of tokens': { ...PPO, policyLoss: 'crossEntropy', policyLossOptions: {} },
};

const logprobsOf = async (engine: UpdateEngine) =>
  (await engine.evaluate(TOKENS, { temperature: 1, mask: MASK })).logprobs;

/** The batch of a step, the same for all engines. */
function batchOf(proximalLogprobs: Float32Array): TrainingBatch {
  return {
    ...TOKENS,
    proximalLogprobs,
    referenceLogprobs: proximalLogprobs.map((logprob) => logprob - 0.1),
    lossWeights: Float32Array.from(MASK, (bit, n) => bit * (0.05 + 0.01 * n)),
    advantages: Float32Array.from(MASK, (_, n) => (n % 3) - 0.7),
    ...{ returns: null, proximalValues: null },
  };
}

describe.skipIf('unavailable' in server)(
  'unavailable' in server ? `skipped, because ${server.unavailable}` : 'with SkyRL',
  () => {
    if ('unavailable' in server) return;
    const recipe = resolveRecipe('bandit-ppo', { assignments: served(server) });
    const open = () => TinkerEngine.open(options(recipe));
    beforeAll(async () => {
      await openBackend();
    });

    describeUpdateEngine('of Tinker', {
      open,
      vocabSize: VOCAB_SIZE,
      isDeterministic: false,
      // An adapter of SkyRL counts four times.
      learningRate: 0.005,
      lacks: [
        ...(['gradients', 'critic', 'entropy', 'squaredProbabilities'] as const),
        ...(['movingReference', 'skippedSteps', 'distillation'] as const),
      ],
    });

    it.each(Object.entries(LOSSES))(
      '%s: has the logprobs, the loss and the gradients of TensorFlow.js',
      async (_, loss) => {
        // With these a step takes its gradient from each weight, times a factor.
        const settings = { ...recipe.optimizer, beta1: 0, beta2: 0, epsilon: EPSILON };
        const engine = await TinkerEngine.open(options({ ...recipe, optimizer: settings }));
        const local = await TensorflowEngine.open(options({ ...recipe, engine: { kind: 'tensorflow' } }));
        expect(local.modelHash).toBe(engine.modelHash);
        // The matrices B are 0 at first, and those A have no gradient then.
        await engine.accumulate(batchOf(await logprobsOf(engine)), loss);
        await engine.step({ learningRate: EPSILON / 1000, maxGradientNorm: 1e9 });
        const start = await engine.saveWeights();
        await startFromCheckpoint(local.model, checkpoints, start);
        const own = await logprobsOf(local);
        expect(largestDifference(await logprobsOf(engine), own)).toBeLessThan(LOGPROB_TOLERANCE);

        const batch = batchOf(own.map((logprob, n) => logprob + 0.05 * Math.sin(n)));
        const [served, expected] = [
          await engine.accumulate(batch, loss),
          await local.accumulate(batch, loss),
        ];
        expect(served.loss).toBeCloseTo(expected.loss, 4);
        expect(served.numTokens).toBe(expected.numTokens);
        await engine.step({ learningRate: EPSILON, maxGradientNorm: 1e9 });
        const [before, after] = [await tensorsOf(start), await tensorsOf(await engine.saveWeights())];
        const gradients = new Map(
          Array.from(before, ([name, values]) => [
            name,
            values.map((value, n) => value - (after.get(name)?.[n] ?? Number.NaN)),
          ]),
        );
        expect(gradientDifference(gradients, await local.takeGradients())).toBeLessThan(GRADIENT_TOLERANCE);
        await Promise.all([engine.close(), local.close()]);
      },
      RUN_MS,
    );

    it(
      'teaches: its base model gives prompts the logprobs of TensorFlow.js',
      async () => {
        const local = await TensorflowEngine.open(options({ ...recipe, engine: { kind: 'tensorflow' } }));
        const { tokenizer } = await openPolicyText({
          tokenizer: 'model',
          words: [],
          directory: server.model,
        });
        const endpoint = { kind: 'tinker', url: server.url, model: server.model } as const;
        const teacher = await openEndpointTeacher(
          { distillation: { coefficient: 1, withReward: false, teacher: { endpoint } } },
          {
            ...{ tokenizer, shape: { maxPositions: 512, vocabSize: tokenizer.vocabSize } },
            ...{ variables: {}, onNotice: () => undefined },
            signal: new AbortController().signal,
          },
        );
        if (teacher === null) throw new Error('the recipe names no server');
        const actionTokens = Int32Array.from([...MASK.keys()].filter((n) => MASK[n] === 1));
        const told = await teacher.read({
          ...{ columns: {} as never, batch: { ...TOKENS, actionTokens } as TokenBatch },
          mask: new Uint8Array(actionTokens.length).fill(1),
        });
        // An adapter's matrices B are 0 at first.
        const own = await logprobsOf(local);
        const expected = Float32Array.from(actionTokens, (n) => own[n]);
        expect(largestDifference(told.logprobs, expected)).toBeLessThan(LOGPROB_TOLERANCE);
        await Promise.all([teacher.close(), local.close()]);
      },
      RUN_MS,
    );

    it(
      'learns in a whole run, and makes its updates again bit for bit; a killed server or trainer changes no weight',
      async () => {
        const path = writeRecipe(server);
        const train = ['train', '--recipe', path, '--updates', `${NUM_UPDATES}`];
        const whole = await finished(['--data-dir', dataOf('whole'), ...train]);
        expect(whole[0].success).toBeLessThan(0.4);
        expect(whole.at(-1)?.success).toBeGreaterThan(0.8);
        const replayed = await runRetrace(['--data-dir', dataOf('whole'), 'replay', '--update', '4']);
        expect(replayed.stdout).toContain('weights: bit-identical');
        const elsewhere = await runRetrace([
          ...['--data-dir', dataOf('whole'), 'replay', '--update', '4', '--engine', 'tensorflow'],
        ]);
        expect(elsewhere.stderr).toContain('made by engine "tinker"');

        const session = startRetrace(['--data-dir', dataOf('trainer'), ...train]);
        sessions.push(session);
        await session.waitFor(/update 3 of/, RUN_MS);
        await session.killTree();
        expect(await finished(['--data-dir', dataOf('trainer'), ...train])).toEqual(whole);

        if (server.kill === null) return;
        const interrupted = startRetrace(['--data-dir', dataOf('server'), ...train]);
        sessions.push(interrupted);
        await interrupted.waitFor(/update 3 of/, RUN_MS);
        await server.kill();
        await server.startAgain();
        await interrupted.waitFor(/run ended: finished/, RUN_MS);
        expect(await interrupted.ended).toBe(0);
        expect(await updatesOf(dataOf('server'))).toEqual(whole);
      },
      3 * RUN_MS,
    );

    it(
      'samples in the server, each version from its own weights, also after the server was killed',
      async () => {
        const path = writeRecipe(server, 'collection.endpoint={"kind":"tinker"}');
        const train = ['train', '--recipe', path, '--updates', `${NUM_UPDATES}`];
        const session = startRetrace(['--data-dir', dataOf('sampled'), ...train]);
        sessions.push(session);
        await session.waitFor(/update 3 of/, RUN_MS);
        await server.kill?.();
        await server.startAgain();
        await session.waitFor(/run ended: finished/, RUN_MS);
        expect(await session.ended).toBe(0);
        const made = await updatesOf(dataOf('sampled'));
        expect(made.map(({ n }) => n)).toEqual(Array.from({ length: NUM_UPDATES }, (_, n) => n + 1));
        expect(made[0].success).toBeLessThan(0.4);
        expect(made.at(-1)?.success).toBeGreaterThan(0.7);
        const verified = await runRetrace(['--data-dir', dataOf('sampled'), 'verify']);
        expect(verified.code).toBe(0);
      },
      3 * RUN_MS,
    );

    it('finds what the server does', async () => {
      const { code, stdout } = await runRetrace(['engine', 'check', server.url, '--json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        ...{ baseModel: server.model, reduction: 'datumMean', clipsGradients: false, loraAlpha: 32 },
        ...{ resumedDifference: 0, keepsSnapshots: false },
      });
      const other = await runRetrace(['engine', 'check', server.url, '--base-model', 'other']);
      expect(other.code).toBe(1);
      expect(other.stderr).toContain('no base model "other"');
    }, 120_000);
  },
);

const dataOf = (name: string) => join(directory.path, name);

interface MadeUpdate {
  readonly n: number;
  readonly weights: string;
  readonly success: number;
}

async function finished(args: readonly string[]): Promise<readonly MadeUpdate[]> {
  const { code, stderr } = await runRetrace(args);
  expect(code === 0 ? '' : stderr).toBe('');
  return updatesOf(args[1]);
}

/** The updates of the only run of a data directory. */
async function updatesOf(data: string): Promise<readonly MadeUpdate[]> {
  const sql = `SELECT toUInt32(update_number) AS n, weights_sha256 AS weights, success
    FROM updates INNER JOIN (SELECT toUInt32(step) AS number, value AS success FROM metrics WHERE name = 'success/mean') AS m ON number = toUInt32(update_number)
    ORDER BY n`;
  const { stdout, stderr } = await runRetrace(['--data-dir', data, '--json', 'sql', sql]);
  expect(stderr).not.toContain('error');
  return JSON.parse(stdout) as readonly MadeUpdate[];
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  return a.reduce((largest, value, n) => Math.max(largest, Math.abs(value - b[n])), 0);
}

type FileOf = Parameters<CheckpointFiles['locate']>[0];
type Tensors = ReadonlyMap<string, Float32Array>;

async function tensorsOf(weights: FileOf): Promise<Tensors> {
  return readAdapterFile(await checkpoints.locate(weights));
}

/** Projections that TensorFlow.js computes as one, by its name. */
const JOINED = {
  qkvWeight: ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
  outputWeight: ['self_attn.o_proj'],
  gateUpWeight: ['mlp.gate_proj', 'mlp.up_proj'],
  downWeight: ['mlp.down_proj'],
} as const;

/**
 * Largest ‖served − own‖/‖own‖ of a matrix. SkyRL gives projections of one input one matrix A, whose gradient is the sum of theirs. Rows of queries and keys are
 * in another order in TensorFlow.js, so of those the norms are compared.
 */
function gradientDifference(served: Tensors, own: Tensors): number {
  const differences: number[] = [];
  for (let layer = 0; layer < NUM_LAYERS; layer++) {
    for (const [joined, parts] of Object.entries(JOINED)) {
      const ofServer = (part: string, kind: string) =>
        served.get(`base_model.model.model.layers.${layer}.${part}.lora_${kind}.weight`) ??
        new Float32Array(0);
      const [a, b] = ['A', 'B'].map(
        (kind) => own.get(`layers.${layer}.${joined}.lora${kind}`) ?? new Float32Array(0),
      );
      const size = a.length / parts.length;
      const sum = a.slice(0, size).map((_, n) => parts.reduce((total, __, p) => total + a[p * size + n], 0));
      let start = 0;
      for (const part of parts) {
        differences.push(relative(ofServer(part, 'A'), sum));
        const ofB = ofServer(part, 'B');
        const expected = b.subarray(start, (start += ofB.length));
        const isReordered = /[qk]_proj/.test(part);
        const norms = [ofB, expected].map((values) => Float32Array.of(Math.hypot(...values)));
        differences.push(isReordered ? relative(norms[0], norms[1]) : relative(ofB, expected));
      }
      expect(start).toBe(b.length);
    }
  }
  return Math.max(...differences);
}

function relative(values: Float32Array, expected: Float32Array): number {
  expect(values.length).toBe(expected.length);
  return Math.hypot(...values.map((value, n) => value - expected[n])) / Math.hypot(...expected);
}
