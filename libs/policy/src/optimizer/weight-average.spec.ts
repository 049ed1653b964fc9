import { onEachBackend, temporaryDirectory } from '@retrace/compute/testing';
import { expect, it } from 'vitest';
import { CheckpointFiles } from '../checkpoints/checkpoint-files.js';
import type { NamedTensors } from '../parameters/named-tensors.js';
import { Transformer } from '../model/transformer.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { PolicyOptimizer } from './policy-optimizer.js';
import { WeightAverage } from './weight-average.js';

const adam = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 };

/** Expects d·a + (1 − d)·w of every weight, computed in doubles. */
function expectMoved(
  actual: NamedTensors,
  average: NamedTensors,
  weights: NamedTensors,
  decay: number,
): void {
  for (const [name, { data }] of actual) {
    const [a, w] = [average.get(name)?.data ?? [], weights.get(name)?.data ?? []];
    data.forEach((value, i) => {
      expect(Math.abs(value - (decay * a[i] + (1 - decay) * w[i]))).toBeLessThan(1e-6);
    });
  }
}

await onEachBackend('WeightAverage', () => {
  it('moves by its decay towards the weights, twice in a row too', async () => {
    const [model, other] = [Transformer.initialize(TINY_CONFIG, 1), Transformer.initialize(TINY_CONFIG, 2)];
    const average = WeightAverage.of(model);
    const [start, weights] = [await model.exportTensors(), await other.exportTensors()];
    average.move(other, 0.75);
    const once = await average.model.exportTensors();
    expectMoved(once, start, weights, 0.75);
    average.move(other, 0.75);
    expectMoved(await average.model.exportTensors(), start, weights, 0.75 ** 2);
    // What it was made of stays.
    expect(await model.exportTensors()).toEqual(start);
    for (const one of [average, model, other]) one.dispose();
  });

  it('is read bit for bit from the file of an optimizer state, and is absent from one without', async () => {
    const checkpoints = new CheckpointFiles(await temporaryDirectory());
    const [model, other] = [Transformer.initialize(TINY_CONFIG, 1), Transformer.initialize(TINY_CONFIG, 2)];
    const optimizer = new PolicyOptimizer(model, adam);
    const average = WeightAverage.of(model);
    average.move(other, 0.9);
    const [withAverage, without] = [
      await checkpoints.write(optimizer.stateContent(average)),
      await checkpoints.write(optimizer.stateContent()),
    ];
    const file = await checkpoints.open(withAverage);
    const read = await WeightAverage.read(file, other);
    expect(await read?.model.exportTensors()).toEqual(await average.model.exportTensors());
    await optimizer.loadState(file);
    await file.close();
    const plain = await checkpoints.open(without);
    expect(await WeightAverage.read(plain, model)).toBeNull();
    await plain.close();
    read?.dispose();
    for (const one of [average, optimizer, model, other]) one.dispose();
  });
});
