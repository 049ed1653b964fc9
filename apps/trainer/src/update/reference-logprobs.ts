import type { Recipe } from '@retrace/config';
import type { CheckpointFile, PolicyPublished } from '@retrace/trajectory';
import type { EvaluationOptions, UpdateEngine } from '../engine/update-engine.js';
import type { SequenceBatch } from '@retrace/policy';

/** Published policies of a run, by version. */
interface PublishedPolicies {
  get(policyVersion: number): Pick<PolicyPublished, 'weights'> | undefined;
}

/**
 * Weights of the reference policy of the KL term or of preferences: the first policy after any imitation. Null where the recipe has
 * neither, or that version is not published yet.
 */
export function referenceWeights(
  { loss, imitation, preference }: Pick<Recipe, 'loss' | 'imitation' | 'preference'>,
  policies: PublishedPolicies,
): CheckpointFile | null {
  if (loss.klCoefficient === 0 && !preference) return null;
  return policies.get(imitation?.numUpdates ?? 0)?.weights ?? null;
}

/** [N] logπ of the reference policy at the tokens that the mask marks; null without weights. */
export async function computeReferenceLogprobs(
  engine: UpdateEngine,
  weights: CheckpointFile | null,
  batch: SequenceBatch,
  options: Pick<EvaluationOptions, 'temperature' | 'mask'>,
): Promise<Float32Array | null> {
  return weights && engine.evaluateReference(weights, batch, options);
}
