import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { estimateFlops, FlopsMeter, type FlopsShape } from './flops-meter.js';
import type { UpdateEngine } from './update-engine.js';

const offsetsOf = (lengths: readonly number[]) =>
  Int32Array.from([0, ...lengths.map((_, s) => lengths.slice(0, s + 1).reduce((sum, one) => sum + one, 0))]);

const LLAMA_2_7B: FlopsShape = {
  ...{ vocabSize: 32_000, hiddenSize: 4096, intermediateSize: 11_008, numLayers: 32 },
  ...{ numHeads: 32, numKeyValueHeads: 32, headDim: 128 },
};
const QWEN_2_5_7B: FlopsShape = {
  ...{ vocabSize: 152_064, hiddenSize: 3584, intermediateSize: 18_944, numLayers: 28 },
  ...{ numHeads: 28, numKeyValueHeads: 4, headDim: 128 },
};
const QWEN_3_8B: FlopsShape = {
  ...{ vocabSize: 151_936, hiddenSize: 4096, intermediateSize: 12_288, numLayers: 36 },
  ...{ numHeads: 32, numKeyValueHeads: 8, headDim: 128 },
};

describe('estimateFlops', () => {
  const long = [4096, 4096, 4096];
  const short = [512, 1024, 2048];
  // The expected values of tests/utils/test_flops_counter.py of verl (commit 013146cf).
  it.each([
    ['Llama 2 7B', LLAMA_2_7B, short, 153_555_818_250_240],
    ['Llama 2 7B', LLAMA_2_7B, long, 575_955_114_393_600],
    ['Qwen2.5 7B', QWEN_2_5_7B, short, 170_388_331_954_176],
    ['Qwen2.5 7B', QWEN_2_5_7B, long, 622_070_178_250_752],
    ['Qwen3 8B', QWEN_3_8B, short, 185_867_930_959_872],
    ['Qwen3 8B', QWEN_3_8B, long, 692_924_253_732_864],
  ])('is that of verl for %s', (_, shape, lengths, expected) => {
    expect(estimateFlops(shape, offsetsOf(lengths))).toBe(expected);
  });

  it('is 0 without a token', () => {
    expect(estimateFlops(LLAMA_2_7B, Int32Array.of(0))).toBe(0);
    expect(estimateFlops(LLAMA_2_7B, Int32Array.of(0, 0))).toBe(0);
  });
});

describe('FlopsMeter', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  // N = 2·(3·8·16 + 8·4·2·(2 + 1)) + 2·10·8 = 1,312; 6·N·(3 + 5) + 12·(9 + 25)·2·4·2 = 69,504 FLOPs.
  const shape = {
    ...{ vocabSize: 10, hiddenSize: 8, numLayers: 2, numHeads: 2, numKeyValueHeads: 1, headDim: 4 },
    intermediateSize: 16,
  };
  const batch = { sequenceOffsets: Int32Array.of(0, 3, 8) } as Parameters<UpdateEngine['accumulate']>[0];
  /** An engine whose gradients take 1.5 s and whose steps take 0.5 s. */
  const engine = {
    modelHash: 'tiny',
    evaluateEnds(this: { modelHash: string }) {
      vi.advanceTimersByTime(10_000);
      return Promise.resolve(this.modelHash);
    },
    accumulate(this: { modelHash: string }) {
      vi.advanceTimersByTime(1500);
      return Promise.resolve(this.modelHash);
    },
    step(this: { modelHash: string }) {
      vi.advanceTimersByTime(500);
      return Promise.resolve(this.modelHash);
    },
  } as unknown as UpdateEngine;
  const train = async (watched: UpdateEngine, trains: 'all' | 'critic' = 'all') => {
    const loss = { trains } as Parameters<UpdateEngine['accumulate']>[1];
    await watched.accumulate(batch, loss);
    return watched.step({ learningRate: 1, maxGradientNorm: 1 });
  };

  it('divides the FLOPs of the gradients by the seconds of gradients and steps, and by the peak of all processes', async () => {
    const meter = new FlopsMeter(shape);
    const watched = meter.watch(engine);
    expect(watched.modelHash).toBe('tiny');
    expect(await watched.evaluateEnds(batch)).toBe('tiny');
    expect(await train(watched)).toBe('tiny');
    expect(meter.metrics(4)).toEqual([['perf/flopsPerSecond', 69_504 / 2]]);
    expect(meter.metrics(4, 86_880)).toEqual([
      ['perf/flopsPerSecond', 34_752],
      ['perf/mfu', 0.1],
    ]);
  });

  it('counts a critic with a transformer of its own beside the policy', async () => {
    const meter = new FlopsMeter({ ...shape, valueTrunk: 'own' });
    const watched = meter.watch(engine);
    await train(watched);
    await train(watched, 'critic');
    expect(meter.metrics(1)).toEqual([['perf/flopsPerSecond', (3 * 69_504) / 4]]);
  });

  it('records nothing where no gradient was computed', () => {
    expect(new FlopsMeter(shape).metrics(1, 1e12)).toEqual([]);
  });
});
