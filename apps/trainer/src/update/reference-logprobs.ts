import type { Recipe } from '@retrace/config';
import type { PolicyPublished } from '@retrace/trajectory';
import type { EvaluationOptions, FixedPolicy, UpdateEngine } from '../engine/update-engine.js';
import type { SequenceBatch } from '@retrace/policy';

/** Published policies of a run, by version. */
interface PublishedPolicies {
  get(policyVersion: number): Pick<PolicyPublished, 'weights' | 'location'> | undefined;
}

/** The reference policy of an update. */
export type ReferencePolicy =
  /** A version that was published. */
  | ({ readonly kind: 'published' } & FixedPolicy)
  /** The engine's average of the policy's weights, which moves after each update. */
  | { readonly kind: 'moving'; readonly decay: number };

/**
 * The reference policy of the KL term or of preferences: the first policy after any imitation, or with `loss.referenceDecay` an average that
 * begins there. Null where the recipe has neither term, or that version is not published yet.
 */
export function referencePolicy(
  { loss, imitation, preference }: Pick<Recipe, 'loss' | 'imitation' | 'preference'>,
  policies: PublishedPolicies,
): ReferencePolicy | null {
  if (loss.klCoefficient === 0 && !preference) return null;
  if (typeof loss.referenceDecay === 'number') return { kind: 'moving', decay: loss.referenceDecay };
  const published = policies.get(imitation?.numUpdates ?? 0);
  return published ? { kind: 'published', weights: published.weights, location: published.location } : null;
}

/** [N] logπ of the reference policy at the tokens that the mask marks; null without a reference. */
export async function computeReferenceLogprobs<Reference extends ReferencePolicy | null>(
  engine: UpdateEngine,
  reference: Reference,
  batch: SequenceBatch,
  options: Pick<EvaluationOptions, 'temperature' | 'mask'>,
): Promise<Float32Array | Extract<Reference, null>> {
  if (reference === null) return null as Extract<Reference, null>;
  return reference.kind === 'moving'
    ? engine.evaluateMovingReference(batch, options)
    : engine.evaluateReference(reference, batch, options);
}

/** Updates a moving reference after the steps of an update. */
export async function moveReference(engine: UpdateEngine, reference: ReferencePolicy | null): Promise<void> {
  if (reference?.kind === 'moving') await engine.moveReference(reference.decay);
}
