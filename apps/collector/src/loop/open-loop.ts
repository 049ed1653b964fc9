import { episodeLimits, type CollectionRecipe, type ContextRecipe } from '@retrace/config';
import { directLoop } from './direct-loop.js';
import type { BeginLoop } from './episode-loop.js';

interface LoopRecipe {
  readonly context: ContextRecipe;
  readonly collection: Partial<CollectionRecipe>;
}

/** The loop of a recipe's episodes. */
export function openLoop(recipe: LoopRecipe): Promise<BeginLoop> {
  return Promise.resolve(directLoop({ ...recipe.context, ...episodeLimits(recipe) }));
}
