import type { RewardComposer } from '@retrace/rewards';

/** Stored rows and batches as reward components see them, and scores as rewards of tokens. */
const ALWAYS = ['./read-reward-episodes.js', './reward-episode.js', './token-rewards.js'];
/** Code of the questions to judges: how an answer is read, and which of several counts. */
const WITH_JUDGE = './judge/verdict.js';
const WITH_VISITS = './state-visits.js';

/**
 * Modules of this library whose code decides what a composition makes of an episode, so that it belongs to the reward version:
 * those that every score depends on, and what the composition reads besides. What only says when and where scores are computed,
 * asked for or stored is none of it.
 */
export function decidingModules({
  asksJudge,
  countsVisits,
}: Pick<RewardComposer, 'asksJudge' | 'countsVisits'>): string[] {
  const paths = [...ALWAYS];
  if (asksJudge) paths.push(WITH_JUDGE);
  if (countsVisits) paths.push(WITH_VISITS);
  return paths.map((path) => new URL(path, import.meta.url).href);
}
