import type { RewardComposer } from '../../composer.js';

/** Stored rows and batches as reward components see them, and scores as rewards of tokens. */
const ALWAYS = ['../read-reward-episodes.js', '../reward-episode.js', '../token-rewards.js'];
/** Question to a judge, reading of its answer, and the choice among several. */
const WITH_JUDGE = '../judge/verdict.js';
const WITH_VISITS = '../state-visits.js';
const WITH_ASSIGNED = '../assigned-rewards.js';

/**
 * Modules of this library whose code affects scores, so that it is part of the reward version: those that every score depends on, and
 * those that the composition needs besides. Code that only decides when and where scores are computed or stored is not part of it.
 */
export function decidingModules({
  asksJudge,
  countsVisits,
  assignedUntil,
}: Pick<RewardComposer, 'asksJudge' | 'countsVisits' | 'assignedUntil'>): string[] {
  const paths = [...ALWAYS];
  if (asksJudge) paths.push(WITH_JUDGE);
  if (countsVisits) paths.push(WITH_VISITS);
  if (assignedUntil.length > 0) paths.push(WITH_ASSIGNED);
  return paths.map((path) => new URL(path, import.meta.url).href);
}
