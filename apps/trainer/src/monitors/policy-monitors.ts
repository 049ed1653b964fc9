import {
  concerned,
  FIRST_UPDATES,
  isSolved,
  computeMean,
  percent,
  RISING,
  selectSeries,
  shown,
  computeTrend,
  type Finding,
  type Monitor,
  type PastUpdate,
} from './monitor.js';

/** Share of the failures that a policy which has learned may have left. */
const LEFT_FAILURES = 0.5;
/**
 * The entropy fell to a small part of what it was at first, and the policy has learned too little to be so sure: less than half of the failures of the first
 * updates are gone, and the success no longer rises.
 */
export const entropyCollapse: Monitor = ({ update, before, rules: { entropyFraction: bound = 0.05 } }) => {
  const measured = before.filter(({ metrics }) => metrics.has('train/entropy'));
  const entropy = update.metrics.get('train/entropy');
  if (bound === null || entropy === undefined || measured.length < FIRST_UPDATES) return null;
  const atFirst = entropyAtFirst(measured.slice(0, FIRST_UPDATES));
  const success = selectSeries([...before, update], 'success/mean');
  if (entropy >= bound * atFirst || hasLearned(success) || computeTrend(success) >= RISING) return null;
  return {
    severity: 'alarm',
    message: `the entropy is ${shown(entropy)} nats, below ${percent(bound)} of the ${shown(atFirst)} of the first updates, at a success of ${percent(success.at(-1) ?? 0)} that does not rise`,
    advice:
      'raise loss.entropyCoefficient or set loss.entropyFloor, lower the learning rate, or go back to an earlier policy',
    episodeIds: [],
  };
};

/** Entropy over the legal actions: random weights spread over the whole vocabulary, whose other tokens are no loss. */
function entropyAtFirst(first: readonly PastUpdate[]): number {
  const uniform = first.map(({ uniformEntropy }) => uniformEntropy).filter(Number.isFinite);
  return Math.min(
    computeMean(selectSeries(first, 'train/entropy')),
    uniform.length > 0 ? Math.max(...uniform) : Infinity,
  );
}

/** Whether the last updates have at most half of the failures of the first ones. */
function hasLearned(success: readonly number[]): boolean {
  if (success.length < FIRST_UPDATES) return false;
  const [atFirst, now] = [success.slice(0, FIRST_UPDATES), success.slice(-FIRST_UPDATES)].map(computeMean);
  return 1 - now <= LEFT_FAILURES * (1 - atFirst);
}

/** Updates in a row whose fractions have to reach a bound. */
const IN_A_ROW = 3;

/** Nearly no group has rewards that differ, several updates in a row, and the policy still fails at much of the task: groups of successes are equal, too. */
export const zeroGradientGroups: Monitor = ({
  update,
  before,
  rules: { zeroGradientFraction: bound = 0.9 },
}) => {
  if (isSolved(update) || hasLearned(selectSeries([...before, update], 'success/mean'))) return null;
  const fractions = [...before, update].slice(-IN_A_ROW).flatMap(({ metrics }) => {
    const numGroups = metrics.get('train/numGroups') ?? 0;
    const numSilent =
      (metrics.get('train/numEqualGroups') ?? 0) + (metrics.get('train/numSingletonGroups') ?? 0);
    return numGroups > 0 ? [numSilent / numGroups] : [];
  });
  return reachedInARow(fractions, bound, {
    what: 'of the groups had equal rewards',
    advice:
      'such groups give no gradient: set sampler.zeroVariance, take tasks of intermediate difficulty, or set equalGroupCoefficient of grpo',
  });
};

/** The bounds of the ratio stop much of the gradient, several updates in a row. */
export const clippedTokens: Monitor = ({ update, before, rules: { clippedFraction: bound = 0.4 } }) =>
  reachedInARow(selectSeries([...before, update].slice(-IN_A_ROW), 'train/clipFraction'), bound, {
    what: 'of the tokens were clipped',
    advice:
      'much of the gradient is stopped: widen the bounds (clipLow and clipHigh, of loss or loss.policyLossOptions), or make fewer or smaller steps an update',
  });

/** A warning where each of the last updates has a fraction, and all of them are at least the bound. */
function reachedInARow(
  fractions: readonly number[],
  bound: number | null,
  { what, advice }: { readonly what: string; readonly advice: string },
): Finding | null {
  if (bound === null || fractions.length < IN_A_ROW) return null;
  if (fractions.some((fraction) => fraction < bound)) return null;
  return {
    severity: 'warning',
    message: `${percent(fractions[fractions.length - 1])} ${what}, at least ${percent(bound)} in ${IN_A_ROW} updates in a row`,
    advice,
    episodeIds: [],
  };
}

/** Answers became several times as long as at first. */
export const lengthExplosion: Monitor = ({
  update,
  before,
  episodes,
  rules: { lengthFactor: bound = 3 },
}) => {
  const atFirst = selectSeries(before, 'episode/actionTokens/mean').slice(0, FIRST_UPDATES);
  const length = update.metrics.get('episode/actionTokens/mean');
  if (bound === null || length === undefined || atFirst.length < FIRST_UPDATES) return null;
  if (length <= bound * computeMean(atFirst)) return null;
  return {
    severity: 'warning',
    message: `episodes have ${shown(length)} action tokens, over ${bound} times the ${shown(computeMean(atFirst))} of the first updates`,
    advice:
      'read the longest episodes, which are named; a length penalty or a shorter maxNewTokens bounds them',
    episodeIds: concerned(
      episodes,
      () => true,
      (episode) => episodes.numActionTokens[episode],
    ),
  };
};

/** The norm of the gradients is many times the usual one. */
export const gradientSpike: Monitor = ({ update, before, rules: { gradientNormFactor: bound = 10 } }) => {
  const usual = selectSeries(before, 'train/gradientNorm').slice(-20);
  const norm = update.metrics.get('train/gradientNorm');
  if (bound === null || norm === undefined || usual.length < 10) return null;
  if (norm <= bound * computeMean(usual)) return null;
  return {
    severity: 'warning',
    message: `the gradient norm is ${shown(norm)}, over ${bound} times the mean of the last ${usual.length} updates, ${shown(computeMean(usual))}`,
    advice:
      'compare the batch with the one before (retrace replay --update); optimizer.guard.spikeFactor skips such steps',
    episodeIds: [],
  };
};

/** Trainer and collector nearly disagree about the probabilities of equal weights. */
export const ratioDrift: Monitor = ({ update, rules: { ratioDeviation: bound = 5e-5 } }) => {
  const deviation = update.metrics.get('train/ratioMaxDeviation');
  if (bound === null || deviation === undefined || deviation <= bound) return null;
  return {
    severity: 'warning',
    message: `the ratio of fresh tokens is off 1 by up to ${deviation.toExponential(1)}; the bound is ${bound.toExponential(0)}`,
    advice:
      'collector and trainer must use the same weights, precision and temperature; a larger deviation ends the run',
    episodeIds: [],
  };
};
