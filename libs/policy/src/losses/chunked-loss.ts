/**
 * The LM head and the loss of its tokens, chunk by chunk.
 *
 * Legend: M trained tokens · h hidden size · V vocabulary.
 */
import * as tf from '@retrace/compute/tensorflow';
import {
  isFrozen,
  matMul,
  targetStatistics,
  targetStatisticsGradient,
  withGradient,
  type ChosenIds,
} from '@retrace/compute';
import { chosenOfRows } from '../logprobs/token-distribution.js';
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
  /** Ids beside them whose logprobs the loss reads (default null: none). */
  readonly chosen?: ChosenIds | null;
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
  { hidden, head, values, targets, chosen = null, known }: ChunkedLossInput,
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
      const chunkChosen = chosen && chosenOfRows(chosen, from, to);
      const gradients: tf.Tensor[] = tf.tidy(() => {
        const isWhole = to - from === targets.length;
        const rows = isWhole ? hidden : tf.slice(hidden, [from, 0], [to - from, -1]);
        const statistics = targetStatistics(
          matMul(rows, head, { transposeB: true }),
          chunkTargets,
          temperature,
          chunkChosen,
        );
        const chunkValues = valuesRead?.subarray(from, to) ?? null;
        const distribution = known
          ? distributionAt(known, from, to)
          : distributionColumns(statistics.value.dataSync() as Float32Array, to - from);
        const evaluated = evaluate({ ...distribution, values: chunkValues }, from, to);
        loss += evaluated.sums.loss;
        if (evaluated.gradients.values) valueGradients.set(evaluated.gradients.values, from);
        const dLogits = targetStatisticsGradient(
          distributionGradients(evaluated),
          statistics,
          chunkTargets,
          temperature,
          chunkChosen,
        );
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
  const backward = (_dy: tf.Tensor, saved: tf.Tensor[]) => savedGradients(saved, wantsHead);
  return withGradient(inputs, forward, backward) as tf.Scalar;
}

/** The tape frees what it saved; a clone shares the numbers. */
function savedGradients(saved: readonly tf.Tensor[], wantsHead: boolean): (tf.Tensor | null)[] {
  const gradients: (tf.Tensor | null)[] = saved.map((gradient) => tf.clone(gradient));
  if (!wantsHead) gradients.splice(1, 0, null);
  return gradients;
}

function distributionAt({ logprobs, entropies, topLogprobs = null }: TokenColumns, from: number, to: number) {
  const perToken = topLogprobs === null ? 0 : topLogprobs.length / logprobs.length;
  return {
    logprobs: logprobs.subarray(from, to),
    entropies: entropies.subarray(from, to),
    topLogprobs: topLogprobs && topLogprobs.subarray(from * perToken, to * perToken),
  };
}

/** The columns of a distribution [2 + k, M] of `tokenDistribution`, which was read row by row. */
export function distributionColumns(read: Float32Array, numTokens: number): Omit<TokenColumns, 'values'> {
  const numRows = read.length / Math.max(1, numTokens);
  const row = (index: number) => read.slice(index * numTokens, (index + 1) * numTokens);
  return {
    logprobs: row(0),
    entropies: row(1),
    topLogprobs: numRows <= 2 ? null : transposed(read.subarray(2 * numTokens), numRows - 2, numTokens),
  };
}

/** The derivatives by a distribution, [2 + k, M]. */
export function distributionGradients({
  gradients: { logprobs, entropies, topLogprobs = null },
}: EvaluatedLoss): tf.Tensor {
  const numTokens = logprobs.length;
  const perToken = topLogprobs === null ? 0 : topLogprobs.length / Math.max(1, numTokens);
  const joined = new Float32Array((2 + perToken) * numTokens);
  joined.set(logprobs);
  joined.set(entropies, numTokens);
  if (topLogprobs !== null) joined.set(transposed(topLogprobs, numTokens, perToken), 2 * numTokens);
  return tf.tensor2d(joined, [2 + perToken, numTokens]);
}

/** A matrix [numRows, numColumns] by columns. */
function transposed(values: Float32Array, numRows: number, numColumns: number): Float32Array {
  const result = new Float32Array(values.length);
  for (let row = 0; row < numRows; row++)
    for (let column = 0; column < numColumns; column++)
      result[column * numRows + row] = values[row * numColumns + column];
  return result;
}
