/**
 * The LM head and the loss of its tokens, chunk by chunk.
 *
 * Legend: M trained tokens · h hidden size · V vocabulary.
 */
import * as tf from '@retrace/compute/tensorflow';
import { isFrozen, matMul, targetStatistics, targetStatisticsGradient, withGradient } from '@retrace/compute';
import type { EvaluatedLoss, TokenColumns } from './evaluate-loss.js';

export interface ChunkedLossInput {
  /** [M, h] final hidden states from which the tokens are predicted. */
  readonly hidden: tf.Tensor;
  /** [V, h] */
  readonly head: tf.Tensor;
  /** [M]; null where the loss has no value term. */
  readonly values: tf.Tensor | null;
  /** [M] ids of the tokens. */
  readonly targets: Int32Array;
  /** [M] the model's outputs from an earlier pass, if the backend can't be read during this one. */
  readonly known?: TokenColumns | null;
}

export interface ChunkedLossOptions {
  readonly temperature: number;
  /** Most tokens of one chunk (default: `tokensOfChunk`). */
  readonly chunkTokens?: number;
}

/** Evaluates tokens `from` … `to` − 1 of a loss that depends on each token separately. */
export type EvaluateTokens = (outputs: TokenColumns, from: number, to: number) => EvaluatedLoss;

/**
 * Elements of a chunk's logits: 32 MiB, enough to add up the gradient of the head fast; at least `FEW_TOKENS` rows, which
 * products need to be fast; never more than 64 MiB.
 */
const WANTED_LOGITS = 2 ** 23;
const FEW_TOKENS = 128;
const MOST_LOGITS = 2 ** 24;

/** Tokens whose logits are in memory at once. */
export function tokensOfChunk(vocabSize: number): number {
  const wanted = Math.max(FEW_TOKENS, Math.floor(WANTED_LOGITS / vocabSize));
  return Math.max(1, Math.min(wanted, Math.floor(MOST_LOGITS / vocabSize)));
}

/**
 * Computes the loss of M tokens, a scalar and the root of the tape. The forward pass takes each chunk all the way to the
 * gradients of its hidden states and of the head, and frees its logits: nothing of size M·V ever exists, and no logits are
 * computed twice. The loss must depend on each token separately.
 */
export function chunkedLoss(
  { hidden, head, values, targets, known }: ChunkedLossInput,
  { temperature, chunkTokens = tokensOfChunk(head.shape[0]) }: ChunkedLossOptions,
  evaluate: EvaluateTokens,
): tf.Scalar {
  const wantsHead = !isFrozen(head);
  const forward = () => {
    const valuesRead = known?.values ?? (values === null ? null : (values.dataSync() as Float32Array));
    const valueGradients = new Float32Array(targets.length);
    const hiddenGradients: tf.Tensor[] = [];
    let headGradient: tf.Tensor | null = null;
    let loss = 0;
    for (let from = 0; from < targets.length; from += chunkTokens) {
      const to = Math.min(targets.length, from + chunkTokens);
      const chunkTargets = targets.subarray(from, to);
      const gradients: tf.Tensor[] = tf.tidy(() => {
        const isWhole = to - from === targets.length;
        const rows = isWhole ? hidden : tf.slice(hidden, [from, 0], [to - from, -1]);
        const statistics = targetStatistics(
          matMul(rows, head, { transposeB: true }),
          chunkTargets,
          temperature,
        );
        const chunkValues = valuesRead?.subarray(from, to) ?? null;
        const outputs = known
          ? { ...distributionAt(known, from, to), values: chunkValues }
          : toColumns(statistics.value, chunkValues);
        const evaluated = evaluate(outputs, from, to);
        loss += evaluated.sums.loss;
        if (evaluated.gradients.values) valueGradients.set(evaluated.gradients.values, from);
        const dStatistics = tf.tensor2d(columnGradients(evaluated), [2, to - from]);
        const dLogits = targetStatisticsGradient(dStatistics, statistics, chunkTargets, temperature);
        const dRows = matMul(dLogits, head);
        if (!wantsHead) return [dRows];
        const dHead = matMul(dLogits, rows, { transposeA: true });
        return [dRows, headGradient === null ? dHead : tf.add(headGradient, dHead)];
      });
      hiddenGradients.push(gradients[0]);
      if (wantsHead) {
        headGradient?.dispose();
        headGradient = gradients[1];
      }
    }
    const dHidden = hiddenGradients.length === 1 ? hiddenGradients[0] : tf.concat(hiddenGradients, 0);
    const dHead = headGradient === null ? [] : [headGradient];
    const dValues = values === null ? [] : [tf.tensor1d(valueGradients)];
    return { value: tf.scalar(loss), saved: [dHidden, ...dHead, ...dValues] };
  };
  const inputs = values === null ? [hidden, head] : [hidden, head, values];
  const backward = (_dy: tf.Tensor, saved: tf.Tensor[]) => {
    // The tape frees what it saved; a clone shares the numbers.
    const gradients: (tf.Tensor | null)[] = saved.map((gradient) => tf.clone(gradient));
    if (!wantsHead) gradients.splice(1, 0, null);
    return gradients;
  };
  return withGradient(inputs, forward, backward) as tf.Scalar;
}

function distributionAt({ logprobs, entropies }: TokenColumns, from: number, to: number) {
  return { logprobs: logprobs.subarray(from, to), entropies: entropies.subarray(from, to) };
}

function toColumns(distribution_2M: tf.Tensor, values: Float32Array | null): TokenColumns {
  const read = distribution_2M.dataSync() as Float32Array;
  const numTokens = read.length / 2;
  return { logprobs: read.slice(0, numTokens), entropies: read.slice(numTokens), values };
}

/** [2·M] by log π, then by entropy. */
export function columnGradients({ gradients: { logprobs, entropies } }: EvaluatedLoss): Float32Array {
  const joined = new Float32Array(2 * logprobs.length);
  joined.set(logprobs);
  joined.set(entropies, logprobs.length);
  return joined;
}
