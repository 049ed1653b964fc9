import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe, type Recipe } from '@retrace/config';
import {
  CheckpointFiles,
  createTokenizer,
  openPolicyCheckpoint,
  openPolicyText,
  plainPolicyText,
  saveAdapter,
  saveHuggingFaceModel,
  evaluateLogprobs,
  Transformer,
} from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { recipeModelConfig, TensorflowEngine } from '@retrace/trainer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const sequences = { tokenIds: Int32Array.from([5, 9, 40, 7, 256]), sequenceOffsets: Int32Array.of(0, 5) };
const scoring = { temperature: 1, maxTokensPerMicroBatch: 64 };

let root = '';
beforeAll(async () => {
  await openBackend();
  root = await mkdtemp(join(tmpdir(), 'retrace-directory-'));
});
afterAll(async () => {
  await rm(root, { recursive: true });
});

async function makeModel(name: string, seed: number): Promise<string> {
  const model = Transformer.initialize(
    {
      vocabSize: 260,
      hiddenSize: 32,
      numLayers: 2,
      numHeads: 4,
      numKeyValueHeads: 2,
      headDim: 8,
      intermediateSize: 48,
      ropeTheta: 1e4,
      rmsNormEps: 1e-6,
      tieWordEmbeddings: false,
      attentionBias: true,
      maxPositions: 128,
      valueHead: false,
    },
    seed,
  );
  const directory = join(root, name);
  await saveHuggingFaceModel(directory, model, { text: plainPolicyText(createTokenizer('byte', [])) });
  model.dispose();
  return directory;
}

async function recipeFor(directory: string, policy: object = {}): Promise<Recipe> {
  const { model: _, ...base } = resolveRecipe('bandit-ppo');
  const path = `${directory}.json`;
  const context = { ...base.context, tokenizer: 'model' };
  await writeFile(
    path,
    JSON.stringify({ ...base, context, policy: { model: directory, maxPositions: 64, ...policy } }),
  );
  return resolveRecipe(path);
}

async function open(recipe: Recipe, name: string): Promise<TensorflowEngine> {
  const text = await openPolicyText({ tokenizer: 'model', words: [], directory: recipe.policy?.model });
  return TensorflowEngine.open({
    recipe,
    checkpoints: new CheckpointFiles(join(root, `${name}-checkpoints`)),
    vocabSize: text.tokenizer.vocabSize,
    tokenizerHash: text.tokenizer.hash,
  });
}

const lora = { rank: 4, alpha: 8, targets: ['q_proj', 'v_proj', 'up_proj'] };

describe('a run that starts from a model directory', () => {
  it('stores adapters alone, and readers put them on the same base', async () => {
    const directory = await makeModel('base', 1);
    const recipe = await recipeFor(directory, { lora, valueTrunk: 'own' });
    const engine = await open(recipe, 'lora');
    const { parameters, trainableSpecs } = engine.model;
    const trained = new Map(
      [...(await parameters.export(trainableSpecs))].map(([name, { shape, data }]) => [
        name,
        { shape, data: data.map((_, i) => 0.1 * Math.sin(i + name.length)) },
      ]),
    );
    parameters.assign(trained, trainableSpecs);
    const files = await engine.save();
    const { weights } = files;
    expect(weights.sizeBytes).toBeLessThan(40_000);

    const checkpoints = new CheckpointFiles(join(root, 'lora-checkpoints'));
    const reader = await openPolicyCheckpoint(checkpoints, weights);
    const expected = await evaluateLogprobs(engine.model, sequences, scoring);
    expect(await evaluateLogprobs(reader, sequences, scoring)).toEqual(expected);
    const everyToken = { temperature: 1, mask: new Uint8Array(5).fill(1) };
    const reference = await engine.evaluateReference({ weights }, sequences, everyToken);
    expect(reference).toEqual(expected.logprobs);
    const again = await open(recipe, 'lora');
    expect(again.modelHash).toBe(engine.modelHash);
    await again.load(files);
    expect(await again.saveWeights()).toEqual(weights);

    await rm(directory, { recursive: true });
    await makeModel('base', 2);
    await expect(openPolicyCheckpoint(checkpoints, weights)).rejects.toMatchObject({
      code: 'CHECKPOINT_CORRUPT',
    });
    expect((await open(recipe, 'lora')).modelHash).not.toBe(engine.modelHash);
  });

  it('trains the adapters of a directory further where the recipe names one', async () => {
    const directory = await makeModel('adapted', 5);
    const first = await open(await recipeFor(directory, { lora }), 'adapted');
    const { parameters, trainableSpecs } = first.model;
    const tensors = await parameters.export(trainableSpecs);
    for (const { data } of tensors.values()) data.forEach((_, i) => (data[i] = 0.1 * Math.sin(i)));
    parameters.assign(tensors, trainableSpecs);
    const adapter = join(root, 'adapter');
    await saveAdapter(adapter, first.model, { baseModel: directory });
    const recipe = await recipeFor(directory, { adapter });
    const further = await open(recipe, 'further');
    const { logprobs } = await evaluateLogprobs(further.model, sequences, scoring);
    expect(logprobs).toEqual((await evaluateLogprobs(first.model, sequences, scoring)).logprobs);
    expect(further.model.config.lora).toEqual(lora);
    expect((await recipeModelConfig(recipe, 260)).lora).toEqual(lora);
    await expect(recipeFor(directory, { adapter, lora })).rejects.toThrow(
      'policy.lora: must be null or absent where policy.adapter names a directory',
    );
  });

  it('stores all weights where all are trained, so that readers need no directory', async () => {
    const directory = await makeModel('whole', 3);
    const engine = await open(await recipeFor(directory), 'whole');
    const weights = await engine.saveWeights();
    await rm(directory, { recursive: true });
    const reader = await openPolicyCheckpoint(new CheckpointFiles(join(root, 'whole-checkpoints')), weights);
    expect(await evaluateLogprobs(reader, sequences, scoring)).toEqual(
      await evaluateLogprobs(engine.model, sequences, scoring),
    );
  });
});
