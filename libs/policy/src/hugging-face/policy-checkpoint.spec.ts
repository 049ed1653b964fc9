import * as tf from '@retrace/compute/tensorflow';
import { beforeAll, describe, expect, it } from 'vitest';
import { openBackend } from '@retrace/compute';
import { CheckpointFiles } from '../checkpoints/checkpoint-files.js';
import { encodeSafetensors } from '../testing/safetensors.js';
import { numElements } from '../parameters/parameter-spec.js';
import { Transformer } from '../model/transformer.js';
import { temporaryDirectory } from '@retrace/compute/testing';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { loadPolicyCheckpoint, openPolicyCheckpoint, policyCheckpointContent } from './policy-checkpoint.js';

const options = { tokenizerHash: 'hash', base: null };

beforeAll(async () => {
  await openBackend({ prefer: ['cpu'] });
});

describe('policyCheckpointContent', () => {
  it('is the safetensors file of all weights, in pieces no larger than a parameter', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const pieces: Uint8Array[] = [];
    for await (const piece of policyCheckpointContent(model, options)) pieces.push(piece);
    const metadata = { config: JSON.stringify(TINY_CONFIG), tokenizerHash: 'hash' };
    const whole = encodeSafetensors(await model.exportTensors(), metadata);
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
    const largest = Math.max(...model.trainableSpecs.map(({ shape }) => numElements(shape)));
    expect(Math.max(...pieces.slice(1).map(({ length }) => length))).toBeLessThanOrEqual(4 * largest);
    model.dispose();
  });
});

describe('a checkpoint on disk', () => {
  it('gives the model again, onto one that is there too, and leaves no tensor of one that does not fit', async () => {
    const files = new CheckpointFiles(await temporaryDirectory());
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const ref = await files.write(policyCheckpointContent(model, options));
    const opened = await openPolicyCheckpoint(files, ref);
    expect(await opened.exportTensors()).toEqual(await model.exportTensors());
    const other = Transformer.initialize(TINY_CONFIG, 2);
    await loadPolicyCheckpoint(other, files, ref);
    expect(await other.exportTensors()).toEqual(await model.exportTensors());

    const tensors = new Map(await model.exportTensors());
    const key = 'model.layers.1.mlp.down_proj.weight';
    const metadata = { config: JSON.stringify(TINY_CONFIG), tokenizerHash: 'hash' };
    const write = () => files.write(encodeSafetensors(tensors, metadata));
    const refusals: [() => unknown, string, RegExp][] = [
      [
        () => tensors.set(key, { shape: [1], data: Float32Array.of(NaN) }),
        'TENSOR_MISMATCH',
        /^\/.*\.safetensors: tensor model.layers.1.mlp.down_proj.weight has shape \[1\]; the model needs \[/,
      ],
      [() => tensors.delete(key), 'TENSOR_MISMATCH', /tensor .*down_proj.weight is missing; the model needs/],
    ];
    const before = tf.memory().numTensors;
    for (const [damage, code, message] of refusals) {
      damage();
      const damaged = await write();
      for (const reading of [
        () => openPolicyCheckpoint(files, damaged),
        () => loadPolicyCheckpoint(other, files, damaged),
      ]) {
        await expect(reading()).rejects.toMatchObject({
          code,
          message: expect.stringMatching(message) as string,
        });
      }
    }
    const bad = await model.exportTensors();
    bad.get(key)!.data[5] = Infinity;
    const notFinite = await files.write(encodeSafetensors(bad, metadata));
    await expect(openPolicyCheckpoint(files, notFinite)).rejects.toThrow(
      /down_proj.weight has Infinity at element 5; weights must be finite/,
    );
    expect(tf.memory().numTensors).toBe(before);
    expect(await other.exportTensors()).toEqual(await model.exportTensors());
    for (const each of [model, opened, other]) each.dispose();
  });
});
