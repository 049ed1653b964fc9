import type { EndReason, Json } from '@retrace/trajectory';
import { valueAt } from './task-path.js';

/** One step of a sealed episode, as reward components see it. */
export interface RewardStep {
  readonly observation: string;
  readonly action: string;
  readonly parsedAction: string | null;
  readonly actionValid: boolean;
  readonly anchor: string | null;
  /** The environment's own reward; null = missing, which is not zero. */
  readonly reward: number | null;
  readonly rewardNames: readonly string[];
  readonly rewardValues: ArrayLike<number>;
  readonly numActionTokens: number;
}

/** A sealed episode, as reward components see it. Nothing in it depends on when it is scored. */
export interface RewardEpisode {
  readonly environment: string;
  /** Task that the environment was reset with; holds the reference answer, where there is one. */
  readonly task: Json;
  readonly steps: readonly RewardStep[];
  readonly finalObservation: string;
  readonly endReason: EndReason;
  readonly success: boolean | null;
}

/** Which set of tasks an episode belongs to: the text at `field` in its task (a dotted path), or else its environment. */
export function dataSourceOf(
  { task, environment }: Pick<RewardEpisode, 'task' | 'environment'>,
  field: string,
): string {
  const source = valueAt(task, field);
  return typeof source === 'string' ? source : environment;
}
