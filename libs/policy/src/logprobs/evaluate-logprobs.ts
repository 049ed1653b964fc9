import * as tf from '@retrace/compute/tensorflow';
import { hiddenAtReads, toDevice } from '../model/forward.js';
import type { Transformer } from '../model/transformer.js';
import { inTurns } from '../packing/in-turns.js';
import { predictingPositions } from '../packing/read-mask.js';
import { packSequences } from '../packing/sequence-pack.js';
import { requireTokenColumn, validateSequenceBatch } from '../packing/sequence-batch.js';
import type { SequenceBatch } from '../packing/sequence-batch.js';
import { isPositive, requireConfig } from '../require-config.js';
import { squaredProbabilities, tokenDistribution } from './token-distribution.js';
import { computeValues } from './value-head.js';

export interface EvaluateLogprobsOptions {
  /** The logits are divided by this, as they were when the tokens were sampled. */
  readonly temperature: number;
  /** Most tokens in one forward pass. */
  readonly maxTokensPerMicroBatch: number;
  /** [N] 1 for the tokens to evaluate (default: all). The others cost almost nothing, and nothing after a sequence's last 1. */
  readonly actionMask?: Uint8Array;
  /** Whether to compute Σ_v π_v² as well, for which the logits are computed a second time (default false). */
  readonly squaredProbabilities?: boolean;
}

/** All [N]; 0 for tokens that were not evaluated, and for the first token of a sequence, which nothing predicts. */
export interface TokenLogprobs {
  /** log π of each token given its prefix, in nats. */
  readonly logprobs: Float32Array;
  /** Entropy of the distribution each token was chosen from, in nats. */
  readonly entropies: Float32Array;
  /** V of the state in which each token was chosen; null when the model has no value head. */
  readonly values: Float32Array | null;
  /** Σ_v π_v² of the distribution each token was chosen from; null unless `squaredProbabilities`. */
  readonly sumSquaredProbabilities: Float32Array | null;
}

/**
 * Evaluates recorded tokens under the current policy. Sequences don't see each other.
 *
 * @throws PolicyError `INVALID_BATCH`, `INVALID_CONFIG`
 */
export async function evaluateLogprobs(
  model: Transformer,
  batch: SequenceBatch,
  {
    temperature,
    maxTokensPerMicroBatch,
    actionMask,
    squaredProbabilities: asksSquares = false,
  }: EvaluateLogprobsOptions,
): Promise<TokenLogprobs> {
  validateSequenceBatch(batch, model.config);
  if (actionMask) requireTokenColumn('actionMask', actionMask, batch.tokenIds.length);
  for (const [name, value] of Object.entries({ temperature, maxTokensPerMicroBatch })) {
    requireConfig(isPositive(value), name, value, 'must be a positive number');
  }
  const readMask = predictingPositions(batch, (n) => actionMask === undefined || actionMask[n] !== 0);
  const numTokens = batch.tokenIds.length;
  const logprobs = new Float32Array(numTokens);
  const entropies = new Float32Array(numTokens);
  const values = model.config.valueHead ? new Float32Array(numTokens) : null;
  const sumSquaredProbabilities = asksSquares ? new Float32Array(numTokens) : null;
  const packs = packSequences(batch, { readMask, maxTokens: maxTokensPerMicroBatch });
  for await (const pack of inTurns(packs)) {
    const tokens = pack.readPositions.map((position) => position + 1);
    const scores = tf.tidy(() => {
      const devicePack = toDevice(model, pack);
      const hidden = hiddenAtReads(model, devicePack);
      const targets = tokens.map((n) => batch.tokenIds[n]);
      const distribution = tokenDistribution(hidden, model.lmHead, targets, { temperature });
      const columns = [distribution];
      if (values !== null) columns.push(tf.expandDims(computeValues(model, devicePack, hidden), 0));
      if (asksSquares)
        columns.push(tf.expandDims(squaredProbabilities(hidden, model.lmHead, temperature), 0));
      return columns.length === 1 ? distribution : tf.concat(columns);
    });
    const read = await scores.data();
    scores.dispose();
    const present = [logprobs, entropies, values, sumSquaredProbabilities].filter(
      (column) => column !== null,
    );
    present.forEach((column, row) => {
      tokens.forEach((n, m) => {
        column[n] = read[row * tokens.length + m];
      });
    });
  }
  return { logprobs, entropies, values, sumSquaredProbabilities };
}
