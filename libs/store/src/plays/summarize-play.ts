import { attemptFigures, comparePaired } from '@retrace/algorithms/success-rates';
import type { Split } from '@retrace/trajectory';
import type { PlayComparison, PlayPrice, PlayRow } from './play-report.js';

/** An ended episode of a play. */
export interface PlayedEpisode {
  readonly policy: string;
  readonly environment: string;
  readonly split: Split;
  readonly seed: number;
  /** Number of the task in its split and seed. */
  readonly task: number;
  readonly family: string | null;
  readonly hasFailed: boolean;
  readonly success: boolean | null;
  readonly return: number | null;
  readonly numSteps: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** As the model's server said it. */
  readonly costUsd: number | null;
  readonly price: PlayPrice | null;
}

/**
 * Figures of each policy, environment and split: over all tasks first, then by seed and by family where there are several. In the order
 * of the episodes.
 */
export function summarizePlay(episodes: readonly PlayedEpisode[]): PlayRow[] {
  const cells = groupBy(episodes, ({ policy, environment, split }) => key(policy, environment, split));
  return [...cells.values()].flatMap((cell) => [
    summarizeRow(cell, { seed: null, family: null }),
    ...groupParts(cell, ({ seed }) => seed).map((part) =>
      summarizeRow(part, { seed: part[0].seed, family: null }),
    ),
    ...groupParts(cell, ({ family }) => family).map((part) =>
      summarizeRow(part, { seed: null, family: part[0].family }),
    ),
  ]);
}

/** Each pair of policies in each environment and split, on the tasks in which both have an attempt of known outcome. */
export function comparePolicies(episodes: readonly PlayedEpisode[]): PlayComparison[] {
  const places = groupBy(episodes, ({ environment, split }) => key(environment, split));
  return [...places.values()].flatMap((played) => {
    const policies = [...groupBy(played, ({ policy }) => policy)].map(
      ([policy, ofPolicy]) => [policy, ratesByTask(ofPolicy)] as const,
    );
    return policies.flatMap(([first, firstRates], p) =>
      policies.slice(p + 1).map(([second, secondRates]) => ({
        environment: played[0].environment,
        split: played[0].split,
        ...{ first, second },
        ...compare(firstRates, secondRates),
      })),
    );
  });
}

interface TaskRate {
  readonly numAttempts: number;
  readonly rate: number;
}

function ratesByTask(episodes: readonly PlayedEpisode[]): ReadonlyMap<string, TaskRate> {
  const tasks = groupBy(episodes.filter(isKnown), describeTask);
  return new Map(
    [...tasks].map(([task, attempts]) => [
      task,
      { numAttempts: attempts.length, rate: countSuccesses(attempts) / attempts.length },
    ]),
  );
}

function compare(first: ReadonlyMap<string, TaskRate>, second: ReadonlyMap<string, TaskRate>) {
  const pairs = [...first].flatMap(([task, one]) => {
    const other = second.get(task);
    return other === undefined ? [] : [[one, other] as const];
  });
  const { numTasks, difference, interval, mcnemar } = comparePaired(
    pairs.map(([one]) => one.rate),
    pairs.map(([, other]) => other.rate),
    { isSingleAttempt: pairs.every((pair) => pair.every(({ numAttempts }) => numAttempts === 1)) },
  );
  return {
    numTasks,
    difference: known(difference) ?? 0,
    differenceLow: known(interval.low),
    differenceHigh: known(interval.high),
    numOnlyFirst: mcnemar?.numOnlyFirst ?? null,
    numOnlySecond: mcnemar?.numOnlySecond ?? null,
    pValue: mcnemar?.pValue ?? null,
  };
}

function summarizeRow(
  episodes: readonly PlayedEpisode[],
  part: { readonly seed: number | null; readonly family: string | null },
): PlayRow {
  const { policy, environment, split } = episodes[0];
  const sound = episodes.filter(({ hasFailed }) => !hasFailed);
  const outcomes = sound.filter(isKnown);
  const { numSuccesses, rate, interval, effectiveEpisodes, passAtK } = attemptFigures(
    outcomes.map((episode) => ({ task: describeTask(episode), isSuccess: episode.success === true })),
  );
  const costs = episodes.map(computeCost).filter((cost) => cost !== null);
  return {
    ...{ policy, environment, split, ...part },
    numTasks: new Set(episodes.map(describeTask)).size,
    numEpisodes: outcomes.length,
    numSuccesses,
    numUnknown: sound.length - outcomes.length,
    numFailed: episodes.length - sound.length,
    successRate: rate,
    successLow: interval.low,
    successHigh: interval.high,
    effectiveEpisodes,
    passAtK,
    meanReturn: mean(sound.map((episode) => episode.return)),
    meanSteps: mean(sound.map(({ numSteps }) => numSteps)),
    meanInputTokens: mean(sound.map(({ inputTokens }) => inputTokens)),
    meanOutputTokens: mean(sound.map(({ outputTokens }) => outputTokens)),
    costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  };
}

/** The server's own figure, or tokens times price; null where neither is known. */
function computeCost({ costUsd, price, inputTokens, outputTokens }: PlayedEpisode): number | null {
  if (costUsd !== null) return costUsd;
  if (price === null || inputTokens === null || outputTokens === null) return null;
  return (inputTokens * price.inputUsdPerMillion + outputTokens * price.outputUsdPerMillion) / 1e6;
}

/** The parts of a cell by a property, in its order; none where there is only one. */
function groupParts<Key extends string | number | null>(
  cell: readonly PlayedEpisode[],
  propertyOf: (episode: PlayedEpisode) => Key,
): (readonly PlayedEpisode[])[] {
  const parts = [...groupBy(cell, propertyOf)];
  if (parts.length < 2) return [];
  return parts.sort(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1)).map(([, part]) => part);
}

function isKnown({ success, hasFailed }: PlayedEpisode): boolean {
  return success !== null && !hasFailed;
}

function describeTask({ seed, task }: PlayedEpisode): string {
  return key(seed, task);
}

function countSuccesses(episodes: readonly PlayedEpisode[]): number {
  return episodes.filter(({ success }) => success === true).length;
}

/** Over the values that are known. */
function mean(values: readonly (number | null)[]): number | null {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? null : present.reduce((sum, value) => sum + value, 0) / present.length;
}

function known(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

function key(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
