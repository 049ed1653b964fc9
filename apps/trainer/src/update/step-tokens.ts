import type { TokenFigures, TrainingBatch } from '@retrace/policy';
import type { UpdateColumns } from './mini-batches.js';
import { gather, gatherMask } from './token-columns.js';

/** The M tokens that an optimizer step trained, in the order of its mini-batch, with what its loss read of each. */
export interface OptimizerStepTokens extends TokenFigures {
  /** [M] positions in the columns of the update. */
  readonly tokens: Int32Array;
  /** [M] NaN where the loss has none. */
  readonly advantages: Float32Array;
}

/** The trained tokens of a mini-batch: those with a weight other than 0. */
export function stepTokens(
  { sequenceOffsets }: Pick<UpdateColumns, 'sequenceOffsets'>,
  sequences: Int32Array,
  batch: Pick<TrainingBatch, 'sequenceOffsets' | 'lossWeights' | 'advantages'>,
  figures: TokenFigures,
): OptimizerStepTokens {
  const { lossWeights } = batch;
  const trained: number[] = [];
  const tokens: number[] = [];
  sequences.forEach((s, i) => {
    const shift = sequenceOffsets[s] - batch.sequenceOffsets[i];
    for (let n = batch.sequenceOffsets[i]; n < batch.sequenceOffsets[i + 1]; n++) {
      if (lossWeights[n] === 0) continue;
      trained.push(n);
      tokens.push(n + shift);
    }
  });
  const positions = Int32Array.from(trained);
  return {
    tokens: Int32Array.from(tokens),
    advantages: batch.advantages
      ? gather(batch.advantages, positions)
      : new Float32Array(positions.length).fill(Number.NaN),
    ratios: gather(figures.ratios, positions),
    values: gather(figures.values, positions),
    kls: gather(figures.kls, positions),
    entropies: gather(figures.entropies, positions),
    clipped: gatherMask(figures.clipped, positions),
  };
}
