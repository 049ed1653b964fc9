import * as tf from '@tensorflow/tfjs-core';
import { afterEach, describe, expect, it } from 'vitest';
import { defaultCacheDirectory } from '../backend/installer/installation.js';
import { backendObstacle, openBackend } from '../backend/open-backend.js';
import { attend } from '../model/attention.js';
import type { AttentionPlan } from '../model/attention.js';
import type { TransformerConfig } from '../model/transformer-config.js';
import { expectSameFunction, normal } from '../testing/expect-same-function.js';
import { fusesAttention } from './attention.js';
import { enableNativeOps, hasNativeOps } from './native-op.js';

interface Case {
  readonly numRows: number;
  readonly numKeys: number;
  readonly numHeads: number;
  readonly numKeyValueHeads: number;
  readonly headDim: number;
  /** Columns that are queries, the same in every row; null: all. */
  readonly queryColumns: readonly number[] | null;
  /** A key is hidden from a query of that row and column. */
  readonly hides: ((row: number, query: number, key: number) => boolean) | null;
}

const causal = (_row: number, query: number, key: number): boolean => key > query;
/** Rows of two segments, the second of which begins at another column in each row. */
const segmented = (row: number, query: number, key: number): boolean =>
  key > query || (key < 2 + row && query >= 2 + row);

const plain: Case = {
  numRows: 3,
  numKeys: 7,
  numHeads: 4,
  numKeyValueHeads: 4,
  headDim: 8,
  queryColumns: null,
  hides: causal,
};

const cases: readonly [string, Case][] = [
  ['causal rows', plain],
  ['rows in which all see all', { ...plain, hides: null }],
  ['heads that share keys', { ...plain, numKeyValueHeads: 2 }],
  ['the last column alone as query', { ...plain, queryColumns: [6], hides: null }],
  ['some columns as queries', { ...plain, queryColumns: [1, 4] }],
  ['segments, other ones in each row', { ...plain, hides: segmented }],
  ['one column', { ...plain, numKeys: 1 }],
  ['heads narrower and keys more than a vector', { ...plain, headDim: 6, numKeys: 37 }],
  ['heads wider than a vector', { ...plain, headDim: 20, numKeys: 17 }],
  ['enough rows for every thread', { ...plain, numRows: 200, numKeys: 26, headDim: 16 }],
];

function planOf({ numRows, numKeys, queryColumns, hides, ...heads }: Case): AttentionPlan {
  const columns = queryColumns ?? Array.from({ length: numKeys }, (_, column) => column);
  const cells = Array.from({ length: numRows }, (_, row) =>
    columns.map((column) => row * numKeys + column),
  ).flat();
  const scores = Array.from({ length: numRows }, (_, row) =>
    columns.map((query) =>
      Array.from({ length: numKeys }, (_, key) => (hides?.(row, query, key) ? -1e9 : 0)),
    ),
  );
  return {
    numRows,
    rowLength: numKeys,
    numQueries: columns.length,
    queryCells: queryColumns === null ? null : tf.tensor1d(cells, 'int32'),
    rotary: normal([numKeys, (heads.numHeads + 2 * heads.numKeyValueHeads) * heads.headDim], 7),
    bias: hides === null ? null : tf.expandDims(tf.tensor3d(scores), 1),
  };
}

/** Why nothing here can run, or null. */
async function findObstacle(): Promise<string | null> {
  const obstacle = await backendObstacle('tensorflow', defaultCacheDirectory());
  if (obstacle !== null) return obstacle;
  await openBackend({ prefer: ['tensorflow'] });
  return hasNativeOps() ? null : 'the native ops were not compiled';
}

const obstacle = await findObstacle();
const title = obstacle === null ? 'fused attention' : `fused attention: skipped, because ${obstacle}`;

describe.skipIf(obstacle !== null)(title, () => {
  afterEach(() => {
    enableNativeOps(true);
  });

  it.each(cases)('has the value and the gradient of the composed form: %s', (_, attention) => {
    const { numRows, numKeys, numHeads, numKeyValueHeads, headDim } = attention;
    const qkv = normal([numRows * numKeys, (numHeads + 2 * numKeyValueHeads) * headDim], 1);
    const plan = planOf(attention);
    // Factors of values are 1 + 0i in a model; the composed form multiplies by whatever it is given.
    const valueColumns = numKeyValueHeads * headDim;
    const turning = tf.slice(plan.rotary, [0, 0], [numKeys, plan.rotary.shape[1]! - valueColumns]);
    const identity = tf.tile(tf.tensor2d([[1, 0]]), [numKeys, valueColumns / 2]);
    const rotary = tf.concat([turning, identity], 1);
    const config = { numHeads, numKeyValueHeads, headDim } as TransformerConfig;
    const run = (fused: boolean) => (x: tf.Tensor) => {
      enableNativeOps(fused);
      return attend(x, { ...plan, rotary }, config);
    };
    enableNativeOps(true);
    expect(fusesAttention(numKeys)).toBe(true);
    expectSameFunction(run(true), run(false), [qkv]);
  });

  it('gives bit-equal gradients every time', () => {
    const attention = cases[cases.length - 1][1];
    const plan = planOf(attention);
    const qkv = normal([200 * 26, plan.rotary.shape[1]!], 1);
    const gradient = () => [
      ...tf
        .grad((x) => tf.sum(attend(x, plan, attention as unknown as TransformerConfig)))(qkv)
        .dataSync(),
    ];
    const first = gradient();
    for (let repeat = 0; repeat < 3; repeat++) expect(gradient()).toEqual(first);
  });

  it('leaves long rows to products of whole matrices', () => {
    expect(fusesAttention(4096)).toBe(false);
  });

  it('refuses a query outside of its row', () => {
    const plan = { ...planOf({ ...plain, queryColumns: [6], hides: null }) };
    const queryCells = tf.tensor1d([6, 6, 20], 'int32');
    const qkv = normal([21, plan.rotary.shape[1]!], 1);
    expect(() => attend(qkv, { ...plan, queryCells }, plain as unknown as TransformerConfig)).toThrow(
      'a query must be a cell of its own row',
    );
  });
});
