import { hash, randomUUID } from 'node:crypto';
import type { WireRecord, WireReward } from '@retrace/recording';

/** A reward that counts, under the name that the import gives its episode. */
export type CurrentReward = Required<
  Pick<WireReward, 'episode' | 'step' | 'name' | 'value' | 'source' | 'rationale'>
>;

/** Of a reward that names none. */
const DEFAULT_SOURCE = 'caller';

export const isReward = (record: WireRecord): record is WireReward => record.type === 'reward';

/** Names what a reward is for: the newest with the same key counts. */
export function rewardKey(reward: Pick<WireReward, 'episode' | 'step' | 'name' | 'source'>): string {
  const { episode, step = null, name, source = DEFAULT_SOURCE } = reward;
  return JSON.stringify([episode, step, name, source]);
}

/**
 * Rewards of which another value counts now, under other ids: a run takes each id once, and a score may change back to a value that it had.
 * Of several for the same step, name and source the last counts.
 */
export function changedRewards(
  rewards: readonly WireReward[],
  current: ReadonlyMap<string, CurrentReward>,
): readonly WireReward[] {
  const given = new Map(rewards.map((reward) => [rewardKey(reward), reward]));
  return [...given].flatMap(([key, reward]) => {
    const known = current.get(key);
    if (known === undefined) return [];
    if (known.value !== reward.value) return [{ ...reward, id: randomUUID() }];
    return known.rationale === (reward.rationale ?? '') ? [] : [changedReward(reward)];
  });
}

/** The same reward under another id, for a score whose value has changed: of rewards with one name and source the last counts. */
export function changedReward(reward: WireReward): WireReward {
  const { id = '', value, rationale = '' } = reward;
  return {
    ...reward,
    id: `${id.slice(0, 64)}/${hash('sha256', JSON.stringify([value, rationale]), 'hex').slice(0, 16)}`,
  };
}
