import { getPolicyLoss } from '@retrace/algorithms';
import { proximalPolicy, type Recipe } from '@retrace/config';
import type { EvaluatedTokens } from '../engine/update-engine.js';
import type { TokenAdvantages } from './advantages.js';
import type { UpdateColumns } from './mini-batches.js';
import type { ReadBatch } from './read-batch.js';
import type { RolloutCorrection } from './rollout-correction.js';
import { episodeOfSequence, scatter } from './token-columns.js';

interface SequencesToTrain {
  readonly read: Pick<ReadBatch, 'batch' | 'groupIds'>;
  /** [N] 1 = an action token that this update trains. */
  readonly trained: Uint8Array;
  readonly credit: Pick<TokenAdvantages, 'advantages' | 'returns'>;
  /** At the start of the update. */
  readonly proximal: EvaluatedTokens;
  /** [N]; null where the loss has no KL term. */
  readonly referenceLogprobs: Float32Array | null;
  readonly correction: Pick<RolloutCorrection, 'keep' | 'weights'> | null;
}

/** The columns that mini-batches are made of, all over the tokens of the batch. */
export function updateColumns(
  recipe: Pick<Recipe, 'advantage' | 'loss'>,
  { read, trained, credit, proximal, referenceLogprobs, correction }: SequencesToTrain,
): UpdateColumns {
  const { batch, groupIds } = read;
  const { behaviorLogprobs } = batch;
  const atTokens = (column: Float32Array) => scatter(column, batch.actionTokens, batch.tokenIds.length);
  return {
    tokenIds: batch.tokenIds,
    sequenceOffsets: batch.sequenceOffsets,
    sequenceGroups: episodeOfSequence(batch).map((e) => groupIds[e]),
    trainedMask: trained,
    keptMask: correction?.keep ?? null,
    rolloutWeights: correction?.weights ?? null,
    advantages: atTokens(credit.advantages),
    proximalLogprobs: proximalPolicy(recipe) === 'recomputed' ? proximal.logprobs : behaviorLogprobs,
    behaviorLogprobs: getPolicyLoss(recipe.loss.policyLoss).needsBehaviorLogprobs ? behaviorLogprobs : null,
    referenceLogprobs,
    returns: credit.returns && atTokens(credit.returns),
    proximalValues: proximal.values,
  };
}
