import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTensors, openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import {
  CheckpointFiles,
  createTokenizer,
  evaluateLogprobs,
  modelFingerprint,
  openPolicyText,
  plainPolicyText,
  saveHuggingFaceModel,
  Transformer,
  type FileRef,
} from '@retrace/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TensorflowEngine } from './tensorflow-engine.js';
import { describeUpdateEngine } from './update-engine.contract.js';
import type { StepLoss } from './update-engine.js';

const VOCAB_SIZE = 11;
const ONLY_POLICY: StepLoss = {
  policyLoss: 'ppo',
  policyLossOptions: { clipLow: 0.2, clipHigh: 0.2, dualClip: null },
  valueCoefficient: 0,
  valueClip: null,
  entropyCoefficient: 0.01,
  klCoefficient: 0,
  klEstimator: 'k3',
  klStraightThrough: false,
  temperature: 1,
};
const directory = mkdtempSync(join(tmpdir(), 'retrace-engine-'));

beforeAll(async () => {
  await openBackend();
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

function openEngine(...settings: string[]): Promise<TensorflowEngine> {
  const small = ['model.numLayers=1', 'model.hiddenSize=16', 'model.intermediateSize=16'];
  return TensorflowEngine.open({
    recipe: resolveRecipe('bandit-ppo', { assignments: [...small, ...settings] }),
    checkpoints: new CheckpointFiles(directory),
    vocabSize: VOCAB_SIZE,
    tokenizerHash: '',
  });
}

const variants = {
  'on TensorFlow.js': [],
  'on TensorFlow.js, with shards of each batch one after the other': ['optimizer.dataParallel=2'],
  'on TensorFlow.js, with moments on disk': ['compute.optimizerOffload=disk'],
  'on TensorFlow.js, with moments in host memory and no reference kept': [
    ...['compute.optimizerOffload=host', 'compute.referenceOffload=true'],
  ],
  'on TensorFlow.js, with micro-batches of one sequence': ['optimizer.maxTokensPerMicroBatch=6'],
};
for (const [name, settings] of Object.entries(variants)) {
  describeUpdateEngine(name, {
    open: () => openEngine(...settings),
    vocabSize: VOCAB_SIZE,
    isDeterministic: true,
  });
}

it('TensorflowEngine: frees all device memory when it is disposed of', async () => {
  const before = countTensors();
  const engine = await openEngine();
  const batch = { tokenIds: Int32Array.of(1, 2), sequenceOffsets: Int32Array.of(0, 2) };
  const options = { temperature: 1, mask: Uint8Array.of(0, 1) };
  await engine.evaluateReference({ weights: await engine.saveWeights() }, batch, options);
  expect(countTensors()).toBeGreaterThan(before);
  await engine.close();
  expect(countTensors()).toBe(before);
});

describe('the teacher of a TensorflowEngine', () => {
  const batch = { tokenIds: Int32Array.of(1, 2, 5, 3), sequenceOffsets: Int32Array.of(0, 4) };
  const options = { temperature: 0.5, mask: Uint8Array.of(0, 1, 1, 1) };
  const checkpoints = new CheckpointFiles(directory);
  const teacherOf = (weights: FileRef) =>
    `distillation=${JSON.stringify({
      teacher: { policy: { run: 'other', source: { runId: 'r', policyVersion: 0, ...weights } } },
      withReward: true,
    })}`;

  it('has its own shape, and says what an engine of that shape says; its memory is freed with that of the policy', async () => {
    const before = countTensors();
    const wide = await openEngine('model.hiddenSize=32', 'model.numLayers=2', 'seed=7');
    const expected = await wide.evaluate(batch, options);
    const weights = await wide.saveWeights();
    await wide.close();
    const engine = await openEngine(teacherOf(weights));
    const { logprobs, top } = await engine.evaluateTeacher(batch, { ...options, topK: 2 });
    expect(logprobs).toEqual(expected.logprobs);
    expect(top?.rows.filter((row) => row >= 0)).toHaveLength(options.mask.reduce((sum, bit) => sum + bit, 0));
    expect((await engine.evaluate(batch, options)).logprobs).not.toEqual(expected.logprobs);
    await engine.close();
    expect(countTensors()).toBe(before);
  });

  const openWith = (tokenizerHash: string, vocabSize: number, ...settings: string[]) =>
    TensorflowEngine.open({
      recipe: resolveRecipe('bandit-ppo', { assignments: settings }),
      ...{ checkpoints, vocabSize, tokenizerHash },
    });

  it('is refused where it reads other tokens, shorter contexts, or is gone', async () => {
    const weightsOf = async (engine: TensorflowEngine) => {
      const weights = await engine.saveWeights();
      await engine.close();
      return weights;
    };
    const other = await weightsOf(await openWith('ab'.repeat(32), VOCAB_SIZE));
    const short = await weightsOf(await openEngine('model.maxPositions=32'));
    const before = countTensors();
    for (const [weights, message] of [
      [other, 'distillation.teacher.policy: its tokenizer is abababababab'],
      [short, 'distillation.teacher.policy: it reads contexts of 32 tokens, and the policy those of 64'],
      [{ ...short, sha256: '0'.repeat(64) }, "distillation.teacher.policy: its weights can't be read"],
    ] as const) {
      await expect(openEngine(teacherOf(weights))).rejects.toMatchObject({
        code: 'TEACHER_REFUSED',
        message: expect.stringContaining(message) as string,
      });
    }
    expect(countTensors()).toBe(before);
  });

  it('may be a model directory, as long as that stays as it was when the run began', async () => {
    const path = join(directory, 'teacher');
    const bytes = createTokenizer('byte', []);
    const config = {
      vocabSize: bytes.vocabSize,
      hiddenSize: 16,
      numLayers: 1,
      numHeads: 2,
      numKeyValueHeads: 1,
    };
    const model = Transformer.initialize(
      {
        ...{ ...config, headDim: 8, intermediateSize: 16, ropeTheta: 1e4, rmsNormEps: 1e-6 },
        ...{ tieWordEmbeddings: false, attentionBias: true, maxPositions: 64, valueHead: false },
      },
      3,
    );
    await saveHuggingFaceModel(path, model, { text: plainPolicyText(bytes) });
    const { logprobs } = await evaluateLogprobs(model, batch, {
      ...{ temperature: options.temperature, actionMask: options.mask, maxTokensPerMicroBatch: 64 },
    });
    model.dispose();
    const { tokenizer } = await openPolicyText({ tokenizer: 'model', words: null, directory: path });
    const teacher = (fingerprint: string) =>
      `distillation=${JSON.stringify({ teacher: { model: path, fingerprint }, withReward: true })}`;
    const open = (fingerprint: string) => openWith(tokenizer.hash, tokenizer.vocabSize, teacher(fingerprint));
    const engine = await open(await modelFingerprint(path));
    expect(await engine.evaluateTeacher(batch, { ...options, topK: null })).toEqual({ logprobs, top: null });
    await engine.close();
    await expect(open('f'.repeat(64))).rejects.toMatchObject({
      code: 'TEACHER_REFUSED',
      message: expect.stringContaining('and had ffffffffffff when the run began') as string,
    });
  });

  it('is refused more of its likeliest tokens than there are', async () => {
    const engine = await openEngine('model.hiddenSize=32');
    const weights = await engine.saveWeights();
    await engine.close();
    await expect(openEngine(teacherOf(weights), 'distillation.topK=100')).rejects.toMatchObject({
      code: 'TEACHER_REFUSED',
      message: expect.stringMatching(
        /^distillation\.topK: got 100, must be at most the size of the policy's vocabulary, \d+$/,
      ) as string,
    });
  });

  it('is missed where the recipe has none', async () => {
    const engine = await openEngine();
    await expect(engine.evaluateTeacher(batch, { ...options, topK: null })).rejects.toThrow(
      'recipe.distillation: missing',
    );
    await engine.close();
  });
});

it('TensorflowEngine: gives the same weights and optimizer state wherever the moments are, and a device without them', async () => {
  const results = [];
  for (const place of ['device', 'host', 'disk']) {
    const engine = await openEngine(`compute.optimizerOffload=${place}`);
    const numTokens = 12;
    const column = (of: (n: number) => number) => Float32Array.from({ length: numTokens }, (_, n) => of(n));
    const batch = {
      tokenIds: Int32Array.from({ length: numTokens }, (_, n) => (5 * n) % VOCAB_SIZE),
      sequenceOffsets: Int32Array.of(0, 7, numTokens),
    };
    const mask = Uint8Array.from({ length: numTokens }, (_, n) => Number(n !== 0 && n !== 7));
    for (let step = 0; step < 3; step++) {
      const { logprobs } = await engine.evaluate(batch, { temperature: 1, mask });
      const columns = {
        lossWeights: column((n) => mask[n] / 10),
        advantages: column((n) => (n % 3) - 1),
        proximalLogprobs: logprobs,
        returns: column(Math.sin),
      };
      await engine.accumulate({ ...batch, ...columns }, ONLY_POLICY);
      await engine.step({ learningRate: 0.01, maxGradientNorm: 1 });
    }
    const numTensors = countTensors();
    results.push({ state: await engine.save(), numTensors });
    await engine.close();
  }
  const [device, host, disk] = results;
  expect(host.state).toEqual(device.state);
  expect(disk.state).toEqual(device.state);
  expect(host.numTensors).toBeLessThan(device.numTensors);
  expect(disk.numTensors).toBe(host.numTensors);
});
