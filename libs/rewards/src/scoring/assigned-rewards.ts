import type { AssignedValue } from '../component.js';
import type { ComponentConfig } from '../composer.js';
import { amongEpisodes, type StoreClient } from '@retrace/store';
import { RewardError } from '../errors.js';

export interface AssignedRewardsOptions {
  readonly client: StoreClient;
  /** Resolves when the store shows everything that was in the log at the call; absent where nobody else writes. */
  readonly untilStored?: () => Promise<void>;
}

/** The component that reads assigned rewards. */
const COMPONENT = 'assigned';
/** Id of the log, then partition and offset of the first record that does not count. */
const UNTIL = /^([0-9a-f-]{36})((?: \d+:\d+)*)$/;

/**
 * Rewards that were assigned to episodes, as they counted at a place in the log. A function of the records before that place, so that scoring
 * an episode again gives the same, whatever was assigned since.
 */
export class AssignedRewards {
  /** Places lie behind nothing that was assigned after this began to read, so that it waits for the store once. */
  private shown: Promise<void> | null = null;

  constructor(private readonly options: AssignedRewardsOptions) {}

  /**
   * The rewards that counted at `until`, by episode: of each step, name and source the newest. Retracted ones are left out.
   *
   * @throws RewardError `UNTIL_INVALID`; TrajectoryError `INVALID_ID` for an id that is no UUID
   */
  async read(
    episodeIds: readonly string[],
    until: string,
  ): Promise<ReadonlyMap<string, readonly AssignedValue[]>> {
    const { client } = this.options;
    const { logId, partitions, offsets } = parseUntil(until);
    await this.untilShown();
    const rows = await client.queryRows<AssignedValue & { readonly episodeId: string }>(
      `SELECT episode_id AS episodeId, reward_step AS step, reward_name AS name, assumeNotNull(reward) AS value, source
       FROM (
         SELECT * FROM (
           SELECT run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset, reward_step, reward_name, reward, source
           FROM events
           PREWHERE kind = 'RewardAssigned'
           WHERE ${amongEpisodes(episodeIds)}
           ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
           LIMIT 1 BY run_id, episode_id, seq
         )
         WHERE log_id < {logId:String} OR (log_id = {logId:String}
           AND log_offset < transform(log_partition, {partitions:Array(UInt32)}, {offsets:Array(UInt64)}, toUInt64(0)))
         ORDER BY run_id, episode_id, log_id DESC, log_partition DESC, log_offset DESC
         LIMIT 1 BY run_id, episode_id, reward_step, reward_name, source
       )
       WHERE reward IS NOT NULL
       ORDER BY episodeId, step, name, source`,
      { params: { logId, partitions, offsets } },
    );
    const found = new Map<string, AssignedValue[]>();
    for (const { episodeId, ...reward } of rows) {
      const known = found.get(episodeId);
      if (known === undefined) found.set(episodeId, [reward]);
      else known.push(reward);
    }
    return found;
  }

  private untilShown(): Promise<void> {
    this.shown ??= (this.options.untilStored?.() ?? Promise.resolve()).catch((error: unknown) => {
      this.shown = null;
      throw error;
    });
    return this.shown;
  }
}

/**
 * Components with the place in the log up to which they read assigned rewards, where they read some and name none: behind the newest reward of
 * the name in these runs. So the reward version stays the same until another one is assigned.
 */
export async function withAssignedUntil(
  components: readonly ComponentConfig[],
  { client, runIds }: { readonly client: StoreClient; readonly runIds: readonly string[] },
): Promise<readonly ComponentConfig[]> {
  return Promise.all(
    components.map(async (component) => {
      const { reward, options = {} } = component;
      if (reward !== COMPONENT || (options.until ?? '') !== '') return component;
      const until = await newestAssigned(client, { name: String(options.name), runIds });
      return { ...component, options: { ...options, until } };
    }),
  );
}

/** @throws RewardError `NOTHING_ASSIGNED` */
async function newestAssigned(
  client: StoreClient,
  params: { readonly name: string; readonly runIds: readonly string[] },
): Promise<string> {
  const rows = await client.queryRows<{ logId: string; partition: number; next: number }>(
    `SELECT log_id AS logId, log_partition AS partition, toUInt64(max(log_offset) + 1) AS next FROM events
     WHERE run_id IN {runIds:Array(String)} AND kind = 'RewardAssigned' AND reward_name = {name:String}
     GROUP BY log_id, log_partition ORDER BY log_id DESC, log_partition`,
    { params },
  );
  if (rows.length === 0) {
    const rule = 'must be that of a reward which was assigned to an episode of the runs';
    throw new RewardError('NOTHING_ASSIGNED', `reward assigned: name is "${params.name}", ${rule}`);
  }
  const [{ logId }] = rows;
  const places = rows
    .filter((row) => row.logId === logId)
    .map(({ partition, next }) => `${partition}:${next}`);
  return [logId, ...places].join(' ');
}

function parseUntil(until: string) {
  const [, logId, places] = UNTIL.exec(until) ?? [];
  if (logId === undefined) {
    throw new RewardError(
      'UNTIL_INVALID',
      `reward assigned: until is "${until}", must be as retrace train fills it in`,
    );
  }
  const pairs = places
    .split(' ')
    .filter(Boolean)
    .map((place) => place.split(':').map(Number));
  return {
    logId,
    partitions: pairs.map(([partition]) => partition),
    offsets: pairs.map(([, offset]) => offset),
  };
}
