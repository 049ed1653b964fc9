import type { TrainingBatch } from '../losses/training-batch.js';

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sequences of the given lengths with random tokens and columns; `actionShare` of the tokens are trained. */
export function randomBatch(
  lengths: readonly number[],
  { vocabSize, actionShare, seed }: { vocabSize: number; actionShare: number; seed: number },
): TrainingBatch {
  const random = seededRandom(seed);
  const sequenceOffsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, s) => {
    sequenceOffsets[s + 1] = sequenceOffsets[s] + length;
  });
  const numTokens = sequenceOffsets[lengths.length];
  const starts = new Set(sequenceOffsets);
  const column = (draw: () => number) => Float32Array.from({ length: numTokens }, draw);
  const logprob = () => Math.log(1 / vocabSize) + 0.6 * (random() - 0.5);
  return {
    tokenIds: Int32Array.from({ length: numTokens }, () => Math.floor(random() * vocabSize)),
    sequenceOffsets,
    lossWeights: Float32Array.from({ length: numTokens }, (_, n) =>
      starts.has(n) || random() >= actionShare ? 0 : 0.02 + 0.05 * random(),
    ),
    advantages: column(() => 2 * random() - 1),
    proximalLogprobs: column(logprob),
    referenceLogprobs: column(logprob),
    returns: column(() => 2 * random() - 1),
    proximalValues: column(() => random() - 0.5),
    importanceWeights: column(() => 0.5 + random()),
  };
}
