import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTensors, openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
  await engine.evaluateReference(await engine.saveWeights(), batch, options);
  expect(countTensors()).toBeGreaterThan(before);
  await engine.close();
  expect(countTensors()).toBe(before);
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
