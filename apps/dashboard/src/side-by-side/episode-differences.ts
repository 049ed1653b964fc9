import type { EpisodeDetail, StepDetail } from '../api-types/schema';

/** The sum of each reward component over the steps, by name. */
export function rewardTotals(steps: readonly StepDetail[]): ReadonlyMap<string, number> {
  const totals = new Map<string, number>();
  for (const { name, value } of steps.flatMap(({ rewards }) => rewards)) {
    if (value !== null) totals.set(name, (totals.get(name) ?? 0) + value);
  }
  return totals;
}

/** Mean logprob of the sampled tokens that have one, nats; null without any. */
export function meanLogprob(steps: readonly StepDetail[]): number | null {
  let sum = 0;
  let numTokens = 0;
  for (const { tokens } of steps) {
    tokens.logprobs.forEach((logprob, place) => {
      if (logprob === null || tokens.actionMask[place] !== 1) return;
      sum += logprob;
      numTokens += 1;
    });
  }
  return numTokens === 0 ? null : sum / numTokens;
}

/** Mean advantage in the newest update that trained on the episode; null where none did. */
export function newestAdvantage({ uses }: Pick<EpisodeDetail, 'uses'>): number | null {
  const trained = uses.filter(({ advantageMean }) => advantageMean !== null);
  return trained.toSorted((a, b) => b.updateNumber - a.updateNumber).at(0)?.advantageMean ?? null;
}

/** The first step at which not all episodes saw and did the same; null where they are equal as far as they are loaded. */
export function firstDifference(episodes: readonly Pick<EpisodeDetail, 'steps'>[]): number | null {
  const most = Math.max(0, ...episodes.map(({ steps }) => steps.length));
  for (let step = 0; step < most; step++) {
    const seen = new Set(
      episodes.map(({ steps }) =>
        step < steps.length
          ? JSON.stringify([steps[step].observation, steps[step].action, steps[step].messages])
          : '',
      ),
    );
    if (seen.size > 1) return step;
  }
  return null;
}
