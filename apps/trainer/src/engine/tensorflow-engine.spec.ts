import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTensors, openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TensorflowEngine } from './tensorflow-engine.js';
import { describeUpdateEngine } from './update-engine.contract.js';

const VOCAB_SIZE = 11;
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
  'on TensorFlow.js, with micro-batches of one sequence': ['optimizer.maxTokensPerMicroBatch=6'],
};
for (const [name, settings] of Object.entries(variants)) {
  describeUpdateEngine(name, {
    open: () => openEngine(...settings),
    close: (engine) => {
      (engine as TensorflowEngine).dispose();
      return Promise.resolve();
    },
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
  engine.dispose();
  expect(countTensors()).toBe(before);
});
