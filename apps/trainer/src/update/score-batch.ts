import { getAdvantageEstimator } from '@retrace/algorithms';
import { scoreTokens, valuesAtEnd, type TokenScores } from '@retrace/policy';
import type { TokenBatch } from '@retrace/trajectory';
import type { UpdateInputs } from './compute-update.js';

/** What the policy at the start of an update says of the tokens that `mask` marks. */
export async function scoreBatch(
  { recipe, policy }: UpdateInputs,
  batch: TokenBatch,
  mask: Uint8Array,
): Promise<TokenScores> {
  const { requires } = getAdvantageEstimator(recipe.advantage.estimator);
  return scoreTokens(policy.model, batch, {
    temperature: recipe.collection.temperature,
    maxTokensPerMicroBatch: recipe.optimizer.maxTokensPerMicroBatch,
    actionMask: mask,
    squaredProbabilities: requires.includes('sumSquaredProbabilities'),
  });
}

/** [N] logπ of the reference policy at the tokens that `mask` marks; null where the recipe has none. */
export async function referenceLogprobs(
  { recipe, policy, referenceWeights }: UpdateInputs,
  batch: TokenBatch,
  mask: Uint8Array,
): Promise<Float32Array | null> {
  if (!referenceWeights) return null;
  const scores = await scoreTokens(await policy.reference(referenceWeights), batch, {
    temperature: recipe.collection.temperature,
    maxTokensPerMicroBatch: recipe.optimizer.maxTokensPerMicroBatch,
    actionMask: mask,
  });
  return scores.logprobs;
}

/** V(s_T) of truncated episodes, from their stored final observation; 0 for the others, which are not read. */
export function finalValues(
  { policy, recipe }: UpdateInputs,
  batch: TokenBatch,
  truncated: Uint8Array,
): Promise<Float32Array> {
  const { tokenIds, sequenceOffsets } = batch.finalSequences;
  const kept = new Int32Array(sequenceOffsets.length);
  const parts: Int32Array[] = [];
  for (let e = 0; e < truncated.length; e++) {
    const part = truncated[e]
      ? tokenIds.subarray(sequenceOffsets[e], sequenceOffsets[e + 1])
      : new Int32Array(0);
    parts.push(part);
    kept[e + 1] = kept[e] + part.length;
  }
  const joined = new Int32Array(kept[truncated.length]);
  parts.forEach((part, e) => {
    joined.set(part, kept[e]);
  });
  return valuesAtEnd(
    policy.model,
    { tokenIds: joined, sequenceOffsets: kept },
    { maxTokensPerMicroBatch: recipe.optimizer.maxTokensPerMicroBatch },
  );
}
