/** The batch and the step of `engines.bench.mjs`, which all of its sides share. */
import { readFileSync, writeFileSync } from 'node:fs';

/** As `scripts/gpu-check/plain.py` has them. */
export const OPTIMIZER = {
  ...{ beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.1 },
  ...{ learningRate: 1e-6, maxGradientNorm: 1 },
};

/** As `scripts/gpu-check/models.py` has it, whose error of a value is not halved. */
export const LOSS = {
  policyLoss: 'ppo',
  policyLossOptions: { clipLow: 0.2, clipHigh: 0.2, dualClip: null },
  valueCoefficient: 1,
  valueClip: null,
  entropyCoefficient: 0.01,
  klCoefficient: 0,
  klEstimator: 'k3',
  temperature: 1,
};

/** Writes sequences of equal length with random numbers; the last half of each is trained. */
export function writeBatch(path, { numSequences, length, vocabSize }) {
  const random = makeRandom(3);
  const column = (draw) => Array.from({ length: length / 2 }, draw);
  const sequences = Array.from({ length: numSequences }, () => ({
    tokenIds: Array.from({ length }, () => Math.floor(random() * vocabSize)),
    advantages: column(() => 2 * random() - 1),
    returns: column(() => 2 * random() - 1),
    noise: column(() => 0.2 * (random() - 0.5)),
  }));
  writeFileSync(path, JSON.stringify(sequences));
  return numSequences * length;
}

/** The batch without its logprobs, the mask of the trained tokens, and what is added to their first logprobs: all [N]. */
export function readColumns(path) {
  const sequences = JSON.parse(readFileSync(path, 'utf8'));
  const { length } = sequences[0].tokenIds;
  const numTrained = (sequences.length * length) / 2;
  const padded = (name) =>
    Float32Array.from(sequences.flatMap((row) => [...new Array(length / 2).fill(0), ...row[name]]));
  const mask = Uint8Array.from({ length: sequences.length * length }, (_, n) =>
    Number(n % length >= length / 2),
  );
  const batch = {
    tokenIds: Int32Array.from(sequences.flatMap(({ tokenIds }) => tokenIds)),
    sequenceOffsets: Int32Array.from({ length: sequences.length + 1 }, (_, s) => s * length),
    lossWeights: Float32Array.from(mask, (isTrained) => isTrained / numTrained),
    advantages: padded('advantages'),
    referenceLogprobs: null,
    returns: padded('returns'),
    proximalValues: null,
  };
  return { batch, mask, noise: padded('noise') };
}

/** A random generator for inputs: the recurrence of Numerical Recipes. */
function makeRandom(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}
