import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveRecipe } from '@retrace/config';
import { afterAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, root, runRetrace } from '../support/cli.mjs';
import { startVllm } from '../support/vllm-server.mjs';

const NUM_UPDATES = 16;
const directory = makeDataDirectory();
const data = join(directory.path, 'data');

afterAll(() => {
  directory.remove();
});

/** Writes the recipe of a policy of this model directory that the server teaches, also by its likeliest tokens, and returns its path. */
function writeRecipe(model: string, url: string, likeliest: object = {}, optimizer: object = {}): string {
  const { model: own, compute, ...base } = structuredClone(resolveRecipe('bandit-ppo'));
  void [own, compute];
  const recipe = {
    ...base,
    name: 'taught-by-vllm',
    environment: { module: join(root, 'test/support/capitals.ts') },
    context: { window: 'observation', tokenizer: 'model', maxNewTokens: 8 },
    policy: { model, maxPositions: 512 },
    reward: { ...base.reward, components: [{ reward: 'goal' }] },
    collection: { ...base.collection, groupsPerRound: 64, groupSize: 1 },
    advantage: { estimator: 'reinforcePlusPlus', options: {} },
    loss: { ...base.loss, policyLoss: 'ppo', valueCoefficient: 0, entropyCoefficient: 0 },
    evaluation: { ...base.evaluation, everyUpdates: 0, numTestEpisodes: 0 },
    distillation: { teacher: { endpoint: { kind: 'vllm', url, model: 'tiny' } }, ...likeliest },
    optimizer: { ...base.optimizer, ...optimizer },
    updateTokens: true,
  };
  const path = join(directory.path, 'taught.json');
  writeFileSync(path, JSON.stringify(recipe));
  return path;
}

/** Copies a model directory, with other weights: each plus a number from −0.1 to 0.1. */
function withOtherWeights(model: string): string {
  const copied = join(directory.path, 'student');
  cpSync(model, copied, { recursive: true });
  const path = join(copied, 'model.safetensors');
  const bytes = readFileSync(path);
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  for (let at = start; at + 4 <= bytes.length; at += 4)
    bytes.writeFloatLE(bytes.readFloatLE(at) + 0.1 * Math.sin(at), at);
  writeFileSync(path, bytes);
  return copied;
}

async function train(recipe: string, numUpdates: number, metric = 'teacherKl'): Promise<readonly number[]> {
  const { code, stdout, stderr } = await runRetrace([
    ...['train', '--recipe', recipe, '--updates', String(numUpdates), '--json', '--data-dir', data],
  ]);
  expect(code, stderr).toBe(0);
  const { runId } = JSON.parse(stdout) as { readonly runId: string };
  const query = `SELECT value FROM metrics WHERE run_id = '${runId}' AND name = 'train/${metric}' ORDER BY step`;
  const { stdout: rows } = await runRetrace(['sql', query, '--json', '--data-dir', data]);
  return (JSON.parse(rows) as { readonly value: number }[]).map(({ value }) => value);
}

/** Makes an update of the newest run again, without the server. */
async function requireReplay(updateNumber: number): Promise<void> {
  const { code, stdout, stderr } = await runRetrace([
    ...['replay', '--update', String(updateNumber), '--json', '--data-dir', data],
  ]);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ lossDifference: 0, sameTokens: true });
}

describe('a policy that a model on a real vLLM teaches', () => {
  it('differs by nothing where it has its weights, comes near it where not, and is replayed without the server', async ({
    task,
    skip,
  }) => {
    const vllm = await startVllm();
    if ('unavailable' in vllm) return skip(`skipped, because ${vllm.unavailable}`);
    let kls: readonly number[];
    let equal: readonly number[];
    try {
      equal = await train(writeRecipe(vllm.model, vllm.url), 1);
      kls = await train(writeRecipe(withOtherWeights(vllm.model), vllm.url), NUM_UPDATES);
    } finally {
      await vllm.stop();
    }
    expect(Math.abs(equal[0])).toBeLessThan(1e-4);
    expect(kls).toHaveLength(NUM_UPDATES);
    expect(kls[NUM_UPDATES - 1]).toBeLessThan(kls[0] / 2);
    await requireReplay(9);
    task.meta.figures = [
      { name: 'KL from a teacher of equal weights', value: equal[0], unit: 'nats a token' },
      { name: 'KL from the teacher in update 1', value: kls[0], unit: 'nats a token' },
      { name: `KL from it in update ${NUM_UPDATES}`, value: kls[NUM_UPDATES - 1], unit: 'nats a token' },
    ];
  }, 1_800_000);

  it('comes near its likeliest tokens, of which the server tells as many as it was started for', async ({
    task,
    skip,
  }) => {
    const vllm = await startVllm();
    if ('unavailable' in vllm) return skip(`skipped, because ${vllm.unavailable}`);
    let equal: readonly number[];
    let losses: readonly number[];
    try {
      const likeliest = { topK: 20, objective: 'forwardKl' };
      const metric = 'distillationLoss';
      // Of several steps all but the first would see a policy that has moved.
      const oneStep = { epochs: 1, miniBatchActionTokens: 100_000 };
      equal = await train(writeRecipe(vllm.model, vllm.url, likeliest, oneStep), 1, metric);
      const student = withOtherWeights(vllm.model);
      const path = writeRecipe(student, vllm.url, { topK: 21 });
      const refused = await runRetrace(['train', '--recipe', path, '--updates', '1', '--data-dir', data]);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toMatch(/distillation\.topK is 21, .*--max-logprobs 21/s);
      losses = await train(writeRecipe(student, vllm.url, likeliest), NUM_UPDATES, metric);
    } finally {
      await vllm.stop();
    }
    expect(Math.abs(equal[0])).toBeLessThan(1e-4);
    expect(losses).toHaveLength(NUM_UPDATES);
    expect(losses[NUM_UPDATES - 1]).toBeLessThan(losses[0] / 2);
    await requireReplay(9);
    task.meta.figures = [
      { name: 'KL over 20 tokens from a teacher of equal weights', value: equal[0], unit: 'nats a token' },
      { name: 'KL over 20 tokens from the teacher in update 1', value: losses[0], unit: 'nats a token' },
      {
        name: `KL over 20 tokens from it in update ${NUM_UPDATES}`,
        ...{ value: losses[NUM_UPDATES - 1], unit: 'nats a token' },
      },
    ];
  }, 1_800_000);
});
