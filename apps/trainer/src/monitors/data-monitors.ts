import { concerned, percent, selectSeries, shown, type Monitor } from './monitor.js';

/** Steps that repeat the one before: an agent that is stuck, an environment that does not move, or a recorder that writes twice. */
export const repeatedSteps: Monitor = ({ episodes, rules: { repeatedStepFraction: bound = 0.5 } }) => {
  const { repeatedFractions } = episodes;
  if (bound === null || repeatedFractions.length === 0) return null;
  const mean = repeatedFractions.reduce((sum, fraction) => sum + fraction, 0) / repeatedFractions.length;
  if (mean <= bound) return null;
  return {
    severity: 'warning',
    message: `${percent(mean)} of the steps repeat the step before, with the same observation and the same action; the bound is ${percent(bound)}`,
    advice:
      'open a named episode: does the environment move, is each step recorded once, does the prompt hold what changed?',
    episodeIds: concerned(
      episodes,
      (episode) => repeatedFractions[episode] > bound,
      (episode) => repeatedFractions[episode],
    ),
  };
};

/** Groups are thrown away for their age, update after update. */
export const staleGroups: Monitor = ({ update, before, rules: { tooStaleUpdates: bound = 3 } }) => {
  if (bound === null) return null;
  const counts = selectSeries([...before, update].slice(-bound - 1), 'train/numGroupsTooStale');
  const isRising = counts.every((count, i) => i === 0 || count > counts[i - 1]);
  if (counts.length < bound + 1 || !isRising) return null;
  return {
    severity: 'warning',
    message: `groups were thrown away as too stale in ${bound} updates in a row, ${shown(counts[bound] - counts[0])} of them`,
    advice:
      'collection is faster than training: raise collection.maxStaleness, take fewer collectors, or limit samples per insert',
    episodeIds: [],
  };
};

/** Reading a batch takes longer than computing its update, several times in a row. */
export const slowStore: Monitor = ({ update, before, rules: { readTimeFactor: bound = 2 } }) => {
  if (bound === null) return null;
  const ratios = [...before, update].slice(-3).flatMap(({ metrics }) => {
    const [read, compute] = [metrics.get('time/read'), metrics.get('time/update')];
    return read !== undefined && compute !== undefined && read > LEAST_SECONDS ? [read / compute] : [];
  });
  if (ratios.length < 3 || ratios.some((ratio) => ratio <= bound)) return null;
  return {
    severity: 'warning',
    message: `reading the batch took ${shown(ratios[2])} times as long as its update, over ${bound} times in 3 updates in a row`,
    advice:
      'the sink or the store falls behind: retrace doctor shows the backlog; give the store more memory or add a sink',
    episodeIds: [],
  };
};

/** Shorter reads slow nothing down. */
const LEAST_SECONDS = 1;
