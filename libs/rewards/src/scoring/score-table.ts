import type { EpisodeReward } from '../composer.js';
import type { StoreClient } from '@retrace/store';

export interface ScoreTableKey {
  readonly runId: string;
  readonly rewardVersion: string;
}

/** The scores of one run under one reward version, in the store. */
export class ScoreTable {
  constructor(
    private readonly client: StoreClient,
    private readonly key: ScoreTableKey,
  ) {}

  /** Stores name and definition of the version. */
  async define(name: string, definition: string): Promise<void> {
    const { runId, rewardVersion } = this.key;
    await this.client.command(
      `INSERT INTO reward_definitions (run_id, reward_version, name, definition, named_at)
       SELECT {runId:String}, {rewardVersion:String}, {name:String}, {definition:String}, {now:String}
       WHERE NOT EXISTS (
         SELECT 1 FROM reward_versions
         WHERE run_id = {runId:String} AND reward_version = {rewardVersion:String} AND name = {name:String}
       )`,
      { params: { runId, rewardVersion, name, definition, now: storeTimeNow() } },
    );
  }

  /** Ids in [first, last] that need no scoring. */
  async scored(first: string, last: string, onlyWithTotal: boolean): Promise<Set<string>> {
    const rows = await this.client.queryRows<{ readonly episodeId: string }>(
      `SELECT episode_id AS episodeId
       FROM scores
       WHERE run_id = {runId:String} AND reward_version = {rewardVersion:String}
         AND episode_id BETWEEN {first:String} AND {last:String}
         ${onlyWithTotal ? 'AND total IS NOT NULL' : ''}`,
      { params: { ...this.key, first, last } },
    );
    return new Set(rows.map(({ episodeId }) => episodeId));
  }

  /** Resolves once the rows are durable. Rows that are there already are replaced, so a repeated insert does no harm. */
  async insert(
    rows: readonly { readonly episodeId: string; readonly reward: EpisodeReward }[],
  ): Promise<void> {
    const scoredAt = storeTimeNow();
    const lines = rows.map(
      ({ episodeId, reward: { total, episodeReward, stepRewards, components, fault } }) =>
        JSON.stringify({
          run_id: this.key.runId,
          reward_version: this.key.rewardVersion,
          episode_id: episodeId,
          scored_at: scoredAt,
          total,
          episode_reward: total === null ? 0 : episodeReward,
          step_rewards: total === null ? [] : Array.from(stepRewards),
          component_names: components.map(({ name }) => name),
          component_weights: components.map(({ weight }) => weight),
          component_values: components.map(({ value }) => value),
          component_faults: components.map(({ fault: failed, missing }) => failed ?? missing ?? ''),
          fault: fault?.message ?? '',
        }),
    );
    await this.client.command(`INSERT INTO reward_scores FORMAT JSONEachRow\n${lines.join('\n')}`);
  }
}

/** Now by this machine's clock, as events have it, in the form of the store. */
function storeTimeNow(): string {
  return new Date().toISOString().replace('T', ' ').replace('Z', '');
}
