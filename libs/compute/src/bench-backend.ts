import { cpus } from 'node:os';
import * as tf from './tensorflow.js';
import { linear } from './ops/products/linear.js';
import { logSoftmax } from './ops/distribution/log-softmax.js';
import { matMul } from './ops/products/mat-mul.js';
import { rmsNorm } from './ops/layers/rms-norm.js';
import { swiGlu } from './ops/layers/swi-glu.js';
import type { BackendName } from './backend/backend.js';
import type { ComputeEnvironment } from './backend/compute-environment.js';
import { openBackend } from './backend/open-backend.js';

export interface BackendBench {
  readonly name: BackendName;
  readonly version: string;
  readonly processor: string;
  /** Product of two square float32 matrices of `matrixSize`. */
  readonly matrixSize: number;
  readonly matmulGigaflops: number;
  /** Time of one small op. */
  readonly opOverheadMicroseconds: number;
  /** Forward and backward pass of a norm, SwiGLU feed-forward and LM head over `trainingRows` rows of width 64. */
  readonly trainingRows: number;
  readonly trainingStepMs: number;
}

export interface BenchBackendOptions {
  readonly environment?: ComputeEnvironment;
  /** Duration of each measurement, of which the fastest repetition counts. */
  readonly measureMs?: number;
}

/**
 * Measures one backend. A process keeps the backend that it has opened, so each needs a process of its own.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` if it can't be opened.
 */
export async function benchBackend(
  name: BackendName,
  { environment, measureMs = 1000 }: BenchBackendOptions = {},
): Promise<BackendBench> {
  const { version } = await openBackend({ prefer: [name], environment });
  const matrixSize = name === 'cpu' ? 128 : name === 'wasm' ? 512 : 1024;
  const trainingRows = 4096;
  const matmulMs = await measureBest(measureMs, squareProduct(matrixSize));
  const overheadMs = await measureBest(measureMs, manySmallOps);
  const trainingStepMs = await measureBest(measureMs, trainingStep(trainingRows));
  return {
    name,
    version,
    processor: cpus()[0]?.model ?? 'unknown',
    matrixSize,
    matmulGigaflops: (2 * matrixSize ** 3) / (matmulMs * 1e6),
    opOverheadMicroseconds: (overheadMs * 1000) / NUM_SMALL_OPS,
    trainingRows,
    trainingStepMs,
  };
}

type Work = () => tf.Tensor;

const NUM_SMALL_OPS = 200;

function squareProduct(size: number): Work {
  const a = tf.randomNormal([size, size], 0, 1, 'float32', 1);
  const b = tf.randomNormal([size, size], 0, 1, 'float32', 2);
  return () => matMul(a, b);
}

function manySmallOps(): tf.Tensor {
  let x: tf.Tensor = tf.scalar(0);
  for (let op = 0; op < NUM_SMALL_OPS; op++) x = tf.add(x, x);
  return x;
}

function trainingStep(numRows: number): Work {
  const [width, vocabSize] = [64, 43];
  const shapes = [[width], [6 * width, width], [width, 3 * width], [vocabSize, width]];
  const weights = shapes.map((shape, i) => tf.randomNormal(shape, 0, 0.1, 'float32', i));
  const x = tf.randomNormal([numRows, width], 0, 1, 'float32', 9);
  const logprobs = (norm: tf.Tensor, gateUp: tf.Tensor, down: tf.Tensor, head: tf.Tensor): tf.Tensor => {
    const normed = tf.mul(rmsNorm(x, 1e-6), norm);
    const [gate, up] = tf.split(gateUp, 2, 0).map((weight) => linear(normed, weight, null));
    const hidden = linear(swiGlu(gate, up), down, null);
    return logSoftmax(linear(hidden, head, null));
  };
  const gradients = tf.grads(logprobs);
  const slope = tf.fill([numRows, vocabSize], -1 / (numRows * vocabSize));
  return () => tf.addN(gradients(weights, slope).map((gradient) => tf.sum(gradient)));
}

async function measureBest(measureMs: number, work: Work): Promise<number> {
  let best = Infinity;
  const until = performance.now() + measureMs;
  do {
    const start = performance.now();
    const result = tf.tidy(work);
    await result.data();
    best = Math.min(best, performance.now() - start);
    result.dispose();
  } while (performance.now() < until);
  return best;
}
