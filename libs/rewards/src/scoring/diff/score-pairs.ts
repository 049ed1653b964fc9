import type { StoreReader } from '@retrace/store';

export interface ScorePairsKey {
  readonly runId: string;
  /** Reward versions. */
  readonly a: string;
  readonly b: string;
  /** Only episodes of this split; null = all. */
  readonly split: string | null;
}

/** The total, or a component by its name. */
export type ScoredValue = { readonly kind: 'total' } | { readonly kind: 'component'; readonly name: string };

/** For queries over all scores of a run: beyond these bytes the engine sorts and groups on disk. */
export const ALL_SCORES = {
  join_algorithm: 'full_sorting_merge',
  max_bytes_before_external_sort: String(256 * 1024 * 1024),
  max_bytes_before_external_group_by: String(256 * 1024 * 1024),
} as const;

/** The episodes that two reward versions have scored, as a relation in the store, where queries about them are computed. */
export class ScorePairs {
  constructor(
    private readonly client: StoreReader,
    private readonly key: ScorePairsKey,
  ) {}

  /** Names of the components that either version has, sorted. */
  async componentNames(): Promise<string[]> {
    const rows = await this.client.queryRows<{ readonly name: string }>(
      `SELECT DISTINCT arrayJoin(mapKeys(components)) AS name FROM scores
       WHERE run_id = {runId:String} AND reward_version IN ({a:String}, {b:String}) ORDER BY name`,
      { params: { ...this.key } },
    );
    return rows.map(({ name }) => name);
  }

  /**
   * Rows of a statement over `pairs`, whose columns are episodeId, groupId, valueA and valueB; either value may be NULL.
   *
   * @param params besides those of the key
   */
  query<Row>(
    value: ScoredValue,
    statement: string,
    params: Readonly<Record<string, unknown>> = {},
  ): Promise<Row[]> {
    const column = value.kind === 'total' ? 'total' : 'components[{name:String}]';
    const name = value.kind === 'total' ? {} : { name: value.name };
    const scored = (version: string) =>
      `SELECT episode_id, ${column} AS value FROM scores
       WHERE run_id = {runId:String} AND reward_version = {${version}:String}`;
    return this.client.queryRows<Row>(
      `WITH pairs AS (
         SELECT started.episode_id AS episodeId, started.group_id AS groupId, ofA.value AS valueA, ofB.value AS valueB
         FROM (${scored('a')}) AS ofA
         INNER JOIN (${scored('b')}) AS ofB ON ofA.episode_id = ofB.episode_id
         INNER JOIN (
           SELECT episode_id, group_id, split FROM events
           WHERE run_id = {runId:String} AND kind = 'EpisodeStarted'
           ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
           LIMIT 1 BY run_id, episode_id
         ) AS started ON ofA.episode_id = started.episode_id
         ${this.key.split === null ? '' : 'WHERE started.split = {split:String}'}
       )
       ${statement}`,
      { params: { ...this.key, ...name, ...params }, settings: ALL_SCORES },
    );
  }
}
