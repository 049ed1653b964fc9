import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckpointFiles } from '../checkpoints/checkpoint-files.js';
import type { NamedTensors } from '../parameters/named-tensors.js';
import { Transformer } from '../model/transformer.js';
import { EVERY_TERM } from '../testing/loss-options.js';
import { randomBatch } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { PolicyOptimizer } from './policy-optimizer.js';

const batch = randomBatch([7, 12, 1, 12, 3, 25, 0, 9], {
  vocabSize: TINY_CONFIG.vocabSize,
  actionShare: 0.4,
  seed: 4,
});
const adam = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 };
const isOfCritic = (name: string) => /value_head|critic/.test(name);

beforeAll(async () => {
  await openBackend();
});

describe.each([
  ['a value head on the trunk', TINY_CONFIG],
  ['a critic of its own', { ...TINY_CONFIG, valueTrunk: 'own' as const }],
])('with a separate critic: %s', (_, config) => {
  /** The weights after two steps. */
  async function trained(
    rates: { learningRate: number; criticLearningRate?: number },
    valueCoefficient = 0.5,
  ) {
    const model = Transformer.initialize(config, 1);
    const separateCritic = rates.criticLearningRate !== undefined;
    const optimizer = new PolicyOptimizer(model, adam, { separateCritic });
    const norms = [];
    for (let step = 0; step < 2; step++) {
      await optimizer.accumulate(batch, { ...EVERY_TERM, valueCoefficient });
      norms.push(await optimizer.apply({ ...rates, maxGradientNorm: 1e-3 }));
    }
    const weights = await model.exportTensors();
    optimizer.dispose();
    model.dispose();
    return { weights, norms };
  }
  const changed = (a: NamedTensors, b: NamedTensors) =>
    [...a].flatMap(([name, { data }]) =>
      data.some((value, i) => value !== b.get(name)?.data[i]) ? [name] : [],
    );

  it('moves only what its rate is not 0 for', async () => {
    const start = await Transformer.initialize(config, 1).exportTensors();
    const onlyCritic = await trained({ learningRate: 0, criticLearningRate: 0.1 });
    const moved = changed(start, onlyCritic.weights);
    expect(moved.length).toBeGreaterThan(0);
    expect(moved.every(isOfCritic)).toBe(true);
    const onlyPolicy = await trained({ learningRate: 0.1, criticLearningRate: 0 });
    expect(changed(start, onlyPolicy.weights).some(isOfCritic)).toBe(false);
  });

  it('clips the norm of each by itself', async () => {
    const { norms } = await trained({ learningRate: 0.1, criticLearningRate: 0.1 });
    const [{ gradientNorm, criticGradientNorm }] = norms;
    const { norms: joint } = await trained({ learningRate: 0.1 });
    expect(joint[0].criticGradientNorm).toBeNull();
    expect(Math.hypot(gradientNorm, criticGradientNorm ?? NaN)).toBeCloseTo(joint[0].gradientNorm, 5);
  });
});

it('trains the policy beside a critic with its own trunk and rate as it does without a critic', async () => {
  const config = { ...TINY_CONFIG, valueTrunk: 'own' as const };
  const policyAfter = async (valueCoefficient: number, separateCritic: boolean) => {
    const model = Transformer.initialize(config, 1);
    const optimizer = new PolicyOptimizer(model, adam, { separateCritic });
    await optimizer.accumulate(batch, { ...EVERY_TERM, valueCoefficient });
    // Far below the critic's norm, which would scale the policy's gradients down, too.
    await optimizer.apply({ learningRate: 0.01, criticLearningRate: 1, maxGradientNorm: 1e-3 });
    const weights = await model.exportTensors();
    optimizer.dispose();
    model.dispose();
    return new Map([...weights].filter(([name]) => !isOfCritic(name)));
  };
  const [beside, without] = [await policyAfter(100, true), await policyAfter(0, false)];
  for (const [name, { data }] of without) {
    const difference = data.map((value, i) => Math.abs(value - (beside.get(name)?.data[i] ?? NaN)));
    expect(Math.max(...difference), name).toBeLessThan(1e-6);
  }
});

describe('a critic with steps of its own', () => {
  const config = { ...TINY_CONFIG, valueTrunk: 'own' as const };
  const rates = { learningRate: 0.01, criticLearningRate: 0.05, maxGradientNorm: 1 };
  const ofPolicy = { ...EVERY_TERM, valueCoefficient: 0, trains: 'policy' } as const;
  const ofCritic = { ...EVERY_TERM, valueCoefficient: 0.5, trains: 'critic' } as const;

  let directory = '';
  let files: CheckpointFiles;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'retrace-separate-critic-'));
    files = new CheckpointFiles(directory);
  });
  afterAll(() => rm(directory, { recursive: true }));

  /** The weights after these steps; at `restart` the optimizer goes on from its file. */
  async function after(parts: readonly ('policy' | 'critic' | 'restart')[]) {
    let model = Transformer.initialize(config, 1);
    let optimizer = new PolicyOptimizer(model, adam, { separateCritic: true });
    const norms = [];
    for (const trains of parts) {
      if (trains === 'restart') {
        const state = await files.open(await files.write(optimizer.stateContent()));
        const copy = model.clone();
        optimizer.dispose();
        model.dispose();
        model = copy;
        optimizer = new PolicyOptimizer(model, adam, { separateCritic: true });
        await optimizer.loadState(state);
        await state.close();
        continue;
      }
      await optimizer.accumulate(batch, trains === 'policy' ? ofPolicy : ofCritic);
      norms.push(await optimizer.apply({ ...rates, trains }));
    }
    const weights = await model.exportTensors();
    optimizer.dispose();
    model.dispose();
    const part = (wanted: boolean) =>
      [...weights].flatMap(([name, { data }]) => (isOfCritic(name) === wanted ? [...data] : []));
    return { policy: part(false), critic: part(true), norms };
  }

  it('leaves the policy, its moments and its bias corrections alone, and the other way round', async () => {
    const alone = await after(['policy', 'policy']);
    const start = await after([]);
    const mixed = await after(['critic', 'critic', 'critic', 'policy', 'critic', 'policy']);
    expect(mixed.policy).toEqual(alone.policy);
    expect(mixed.policy).not.toEqual(start.policy);
    expect(alone.critic).toEqual(start.critic);
    expect(mixed.critic).toEqual((await after(['critic', 'critic', 'critic', 'critic'])).critic);
    expect(mixed.critic).not.toEqual(start.critic);
    expect(mixed.norms[0].gradientNorm).toBe(0);
    expect(mixed.norms[0].criticGradientNorm).toBeGreaterThan(0);
    expect(mixed.norms[3]).toMatchObject({ criticGradientNorm: 0 });
  });

  it('goes on with the counts of both after a restart', async () => {
    const whole = await after(['critic', 'critic', 'policy', 'critic', 'policy']);
    const restarted = await after(['critic', 'critic', 'policy', 'restart', 'critic', 'policy']);
    expect(restarted.policy).toEqual(whole.policy);
    expect(restarted.critic).toEqual(whole.critic);
  });
});
