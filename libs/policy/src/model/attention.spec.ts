import * as tf from '@retrace/compute/tensorflow';
import { describe, expect, it } from 'vitest';
import { attend } from './attention.js';
import { planAttention } from './attention-plan.js';
import { RotaryTable } from './rotary.js';
import type { TransformerConfig } from './transformer-config.js';
import { expectSameFunction, normal, onEachBackend } from '@retrace/compute/testing';
import { TINY_CONFIG } from '../testing/tiny-config.js';

interface Case {
  readonly lengths: readonly number[];
  readonly numHeads: number;
  readonly numKeyValueHeads: number;
  readonly headDim: number;
  /** Cells that are queries; null: all. */
  readonly queries: readonly number[] | null;
}

const plain: Case = { lengths: [7, 3], numHeads: 4, numKeyValueHeads: 4, headDim: 8, queries: null };

const cases: readonly [string, Case][] = [
  ['sequences of unequal length', plain],
  ['equally long ones', { ...plain, lengths: [5, 5, 5] }],
  ['heads that share keys', { ...plain, numKeyValueHeads: 2 }],
  ['the last cells alone as queries', { ...plain, queries: [6, 9] }],
  ['some cells as queries', { ...plain, lengths: [9, 4, 8], queries: [1, 4, 9, 12, 13, 20] }],
  ['one token', { ...plain, lengths: [1] }],
  ['several buckets, out of order', { ...plain, lengths: [3, 70, 40, 2, 65], numKeyValueHeads: 2 }],
  [
    'several buckets and some queries',
    { ...plain, lengths: [3, 70, 40, 2, 65], queries: [2, 10, 72, 80, 112, 114, 115, 179] },
  ],
  ['heads narrower than a vector', { ...plain, headDim: 6, lengths: [37, 30], numKeyValueHeads: 1 }],
  ['heads wider than a vector', { ...plain, headDim: 20, lengths: [17, 33] }],
];

/** Every query by itself, in doubles' stead by plain tfjs: turned, over the keys of its sequence up to itself. */
function oneByOne({ lengths, queries, ...heads }: Case, factors: tf.Tensor): (qkv: tf.Tensor) => tf.Tensor {
  const { numHeads, numKeyValueHeads, headDim } = heads;
  return (qkv) => {
    const contexts: tf.Tensor[] = [];
    let start = 0;
    for (const length of lengths) {
      const turned = turn(tf.slice(qkv, [start, 0], [length, -1]), tf.slice(factors, [0, 0], [length, -1]));
      for (let t = 0; t < length; t++) {
        if (queries !== null && !queries.includes(start + t)) continue;
        const ofHeads = Array.from({ length: numHeads }, (_, head) => {
          const group = Math.floor((head * numKeyValueHeads) / numHeads);
          const column = (index: number, rows: number, from = 0) =>
            tf.slice(turned, [from, index * headDim], [rows, headDim]);
          const scores = tf.matMul(column(head, 1, t), column(numHeads + group, t + 1), false, true);
          return tf.matMul(tf.softmax(scores), column(numHeads + numKeyValueHeads + group, t + 1));
        });
        contexts.push(tf.concat(ofHeads, 1));
      }
      start += length;
    }
    return tf.concat(contexts, 0);
  };
}

/** (x₀ + i·x₁)·(c + i·s) of neighbouring columns, by its definition. */
function turn(x: tf.Tensor, factors: tf.Tensor): tf.Tensor {
  const pairs = (y: tf.Tensor) => tf.unstack(tf.reshape(y, [x.shape[0], -1, 2]), 2);
  const [[x0, x1], [c, s]] = [pairs(x), pairs(factors)];
  const real = tf.sub(tf.mul(x0, c), tf.mul(x1, s));
  const imaginary = tf.add(tf.mul(x0, s), tf.mul(x1, c));
  return tf.reshape(tf.stack([real, imaginary], 2), x.shape);
}

function setUp({ lengths, queries, ...heads }: Case) {
  const config: TransformerConfig = { ...TINY_CONFIG, ...heads, maxPositions: 128 };
  const rotary = new RotaryTable(config);
  const offsets = Int32Array.from([0, ...lengths]);
  for (let s = 1; s < offsets.length; s++) offsets[s] += offsets[s - 1];
  const width = (heads.numHeads + 2 * heads.numKeyValueHeads) * heads.headDim;
  return {
    plan: planAttention(rotary, offsets, queries === null ? null : Int32Array.from(queries)),
    config,
    factors: rotary.upTo(Math.max(...lengths)),
    qkv: normal([offsets[lengths.length], width], 1),
  };
}

await onEachBackend('attend', () => {
  it.each(cases)('has the value and the gradient of attention query by query: %s', (_, attention) => {
    const { plan, config, factors, qkv } = setUp(attention);
    expectSameFunction((x) => attend(x, plan, config), oneByOne(attention, factors), [qkv]);
  });

  it('gives bit-equal gradients every time', () => {
    const { plan, config, qkv } = setUp({ ...plain, lengths: new Array<number>(12).fill(26) });
    const gradient = () => [
      ...tf
        .grad((x) => tf.sum(tf.square(attend(x, plan, config))))(qkv)
        .dataSync(),
    ];
    const first = gradient();
    for (let repeat = 0; repeat < 2; repeat++) expect(gradient()).toEqual(first);
  });

  it('keeps sequences apart: the content of one changes nothing in another', () => {
    const { plan, config, qkv } = setUp({ ...plain, lengths: [40, 25] });
    const other = tf.concat([tf.mul(tf.slice(qkv, [0, 0], [40, -1]), 3), tf.slice(qkv, [40, 0], [25, -1])]);
    const second = (x: tf.Tensor) => [...tf.slice(attend(x, plan, config), [40, 0], [25, -1]).dataSync()];
    expect(second(other)).toEqual(second(qkv));
  });
});

describe('fused attention', () => {
  it('refuses queries that are no cells, or do not rise', async () => {
    const { openBackend } = await import('@retrace/compute');
    await openBackend();
    const { hasNativeOps } = await import('@retrace/compute');
    if (!hasNativeOps()) return;
    for (const queries of [[6, 20], [4, 2], [-1]]) {
      const { plan, config, qkv } = setUp({ ...plain, queries });
      expect(() => attend(qkv, plan, config), String(queries)).toThrow('queries must be cells, rising');
    }
  });
});
