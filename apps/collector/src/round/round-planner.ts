import { isDeepStrictEqual } from 'node:util';
import { planRound, type RoundPlanOptions } from './round-plan.js';
import { type PlannedEpisode } from '../episode/planned-episode.js';

/** Plans rounds. The next one can be planned ahead, so that it starts immediately. */
export class RoundPlanner {
  private ahead: { readonly options: RoundPlanOptions; readonly episodes: PlannedEpisode[] } | null = null;

  plan(options: RoundPlanOptions): PlannedEpisode[] {
    const { ahead } = this;
    this.ahead = null;
    return ahead && isDeepStrictEqual(ahead.options, options) ? ahead.episodes : planRound(options);
  }

  planAhead(options: RoundPlanOptions): void {
    if (this.ahead && isDeepStrictEqual(this.ahead.options, options)) return;
    this.ahead = { options, episodes: planRound(options) };
  }
}
