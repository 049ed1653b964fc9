import * as tf from '@retrace/compute/tensorflow';
import { hiddenAtReads, toDevice } from '../model/forward.js';
import { chosenIdsAt, type TeacherTop } from './teacher-top.js';
import type { Transformer } from '../model/transformer.js';
import { inTurns } from '../packing/in-turns.js';
import { predictingPositions } from '../packing/read-mask.js';
import { packSequences } from '../packing/sequence-pack.js';
import { requireTokenColumn, validateSequenceBatch } from '../packing/sequence-batch.js';
import type { SequenceBatch } from '../packing/sequence-batch.js';
import { isPositive, requireConfig } from '../require-config.js';
import { likeliestIds, squaredProbabilities, tokenDistribution } from './token-distribution.js';
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
  /** Ids whose logprobs are wanted beside those of the tokens (default null: none). */
  readonly teacherTop?: TeacherTop | null;
  /** How many of the likeliest ids are wanted at each token (default null: none); for their logits, these are computed a second time. */
  readonly topK?: number | null;
  /** Ids from this on are never among the likeliest (default: that of the model), for those who know fewer. */
  readonly vocabSize?: number;
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
  /** [N·k] log π of the ids of `teacherTop`, in nats; null unless it is given. */
  readonly topLogprobs: Float32Array | null;
  /** The likeliest ids at the evaluated tokens; null unless `topK`. */
  readonly likeliest: TeacherTop | null;
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
    teacherTop = null,
    topK = null,
    vocabSize = model.config.vocabSize,
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
  const topLogprobs = teacherTop && new Float32Array(numTokens * teacherTop.topK);
  const likeliest = topK === null ? null : newTop(readMask, topK);
  const packs = packSequences(batch, { readMask, maxTokens: maxTokensPerMicroBatch });
  for await (const pack of inTurns(packs)) {
    const tokens = pack.readPositions.map((position) => position + 1);
    const chosen = teacherTop && chosenIdsAt(teacherTop, tokens);
    const [scores, ...top] = tf.tidy(() => {
      const devicePack = toDevice(model, pack);
      const hidden = hiddenAtReads(model, devicePack);
      const targets = tokens.map((n) => batch.tokenIds[n]);
      const distribution = tokenDistribution(hidden, model.lmHead, targets, { temperature, chosen });
      const columns = [distribution];
      if (values !== null) columns.push(tf.expandDims(computeValues(model, devicePack, hidden), 0));
      if (asksSquares)
        columns.push(tf.expandDims(squaredProbabilities(hidden, model.lmHead, temperature), 0));
      const joined = columns.length === 1 ? distribution : tf.concat(columns);
      if (topK === null) return [joined];
      const { ids, logprobs: ofIds } = likeliestIds(hidden, model.lmHead, { temperature, topK, vocabSize });
      return [joined, ids, ofIds];
    });
    const read = await scores.data();
    scores.dispose();
    if (likeliest) await readLikeliest(likeliest, top, tokens);
    const k = teacherTop?.topK ?? 0;
    if (topLogprobs) readChosen(topLogprobs, read.subarray(2 * tokens.length), { tokens, k });
    const present = [logprobs, entropies, values, sumSquaredProbabilities].filter((x) => x !== null);
    present.forEach((column, i) => {
      const row = i < 2 ? i : i + k;
      tokens.forEach((n, m) => {
        column[n] = read[row * tokens.length + m];
      });
    });
  }
  return { logprobs, entropies, values, sumSquaredProbabilities, topLogprobs, likeliest };
}

/** Tables with a row for each token that is predicted. @param readMask [N] 1 at the positions before them */
function newTop(readMask: Uint8Array, topK: number): TeacherTop {
  let numRows = 0;
  const rows = Int32Array.from(readMask, (_, n) => (n > 0 && readMask[n - 1] === 1 ? numRows++ : -1));
  return {
    ...{ topK, rows },
    ids: new Int32Array(numRows * topK),
    logprobs: new Float32Array(numRows * topK),
  };
}

async function readLikeliest(
  { rows, topK, ids, logprobs }: TeacherTop,
  tensors: readonly tf.Tensor[],
  tokens: Int32Array,
): Promise<void> {
  const [ofIds, ofLogprobs] = await Promise.all(tensors.map((tensor) => tensor.data()));
  tf.dispose([...tensors]);
  tokens.forEach((n, m) => {
    const [from, end] = [m * topK, (m + 1) * topK];
    ids.set(ofIds.subarray(from, end), rows[n] * topK);
    logprobs.set(ofLogprobs.subarray(from, end), rows[n] * topK);
  });
}

/** @param read [k, M] */
function readChosen(
  topLogprobs: Float32Array,
  read: ArrayLike<number>,
  { tokens, k }: { readonly tokens: Int32Array; readonly k: number },
): void {
  tokens.forEach((n, m) => {
    for (let i = 0; i < k; i++) topLogprobs[n * k + i] = read[i * tokens.length + m];
  });
}
