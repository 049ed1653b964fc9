import { episodeLimits } from '@retrace/config';
import type { PolicyText } from '@retrace/policy';
import type { EpisodeLoops } from '../loop/episode-loop.js';
import type { openLoop } from '../loop/open-loop.js';

/** Text, loop and limits, which follow from the context in the same way for every player. */
export function makePlayerSetting(
  text: PolicyText,
  loops: EpisodeLoops,
  recipe: Parameters<typeof openLoop>[0],
) {
  const { maxNewTokens } = recipe.context;
  return { text, maxNewTokens, loops, limits: episodeLimits(recipe) };
}
