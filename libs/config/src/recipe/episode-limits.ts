import type { CollectionRecipe, ContextRecipe } from './collection-recipe.js';

/** Limits that end an episode apart from its environment, and how such an end counts. */
export interface EpisodeLimits {
  readonly resetTimeoutMs: number;
  readonly stepTimeoutMs: number;
  readonly maxFailuresInARow: number;
  readonly whenContextFull: 'truncate' | 'dropOldest';
  /** Success of a truncated episode whose environment does not tell it. */
  readonly truncatedSuccess: false | null;
}

interface WithLimits {
  readonly collection: Partial<CollectionRecipe>;
  readonly context: Partial<ContextRecipe>;
}

/** The limits of a recipe, with the defaults of those that it leaves out. */
export function episodeLimits({ collection, context }: WithLimits): EpisodeLimits {
  return {
    resetTimeoutMs: collection.resetTimeoutMs ?? 60_000,
    stepTimeoutMs: collection.stepTimeoutMs ?? 60_000,
    maxFailuresInARow: collection.maxFailuresInARow ?? 64,
    whenContextFull: context.whenFull ?? 'truncate',
    truncatedSuccess: collection.truncatedSuccess === 'unknown' ? null : false,
  };
}
