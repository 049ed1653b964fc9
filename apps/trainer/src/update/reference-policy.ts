import type { Recipe } from '@retrace/config';

/** The reference policy of the KL term: the first policy that the policy gradient starts from, after any imitation. */
export function referenceVersion(recipe: Recipe): number {
  return recipe.imitation?.numUpdates ?? 0;
}
