import type { StoreClient } from '@retrace/store';

export interface AuditedScoresKey {
  readonly runId: string;
  readonly version: string;
  /** Only episodes of this split; null = all. */
  readonly split: string | null;
  readonly numStretches: number;
}

/** An episode whose reward and success tell different things. */
export interface AuditedEpisode {
  readonly episodeId: string;
  readonly total: number;
  readonly components: Readonly<Record<string, number>>;
}

interface Values {
  readonly name: string;
  readonly mean: number;
}

/** A value over all its episodes. */
export interface ValueRow extends Values {
  readonly numEpisodes: number;
  /** Null where no episode of that outcome has the value. */
  readonly meanOfSuccesses: number | null;
  readonly meanOfFailures: number | null;
}

/** A value over the episodes of a stretch. */
export interface StretchRow extends Values {
  readonly stretch: number;
}

const TOTAL = 'total';

/** The episodes of a run that a reward version has scored, in stretches by time, as a relation in the store, where queries about them are computed. */
export class AuditedScores {
  constructor(
    private readonly client: StoreClient,
    private readonly key: AuditedScoresKey,
  ) {}

  /** Episodes with a total, by stretch and outcome. */
  stretches(): Promise<
    { readonly stretch: number; readonly numEpisodes: number; readonly success: number | null }[]
  > {
    return this.query(
      `SELECT stretch, count() AS numEpisodes, avg(success) AS success FROM scored GROUP BY stretch ORDER BY stretch`,
    );
  }

  /** The total first, then the components by name. */
  values(): Promise<ValueRow[]> {
    return this.query(
      `SELECT name, count() AS numEpisodes, avg(value) AS mean,
         avgOrNullIf(value, success = 1) AS meanOfSuccesses, avgOrNullIf(value, success = 0) AS meanOfFailures
       FROM named GROUP BY name ORDER BY name != '${TOTAL}', name`,
    );
  }

  /** The mean of each value in each stretch. */
  valuesByStretch(): Promise<StretchRow[]> {
    return this.query(
      'SELECT name, stretch, avg(value) AS mean FROM named GROUP BY name, stretch ORDER BY name, stretch',
    );
  }

  /** The share of failures whose total is at least the median of the successes; null without either. */
  async paidFailures(): Promise<number | null> {
    const [{ share }] = await this.query<{ readonly share: number | null }>(
      `SELECT avgOrNullIf(total >= (SELECT quantileExactOrNullIf(0.5)(total, success = 1) FROM scored), success = 0) AS share FROM scored`,
    );
    return share;
  }

  /** Failures with the highest totals, or successes with the lowest. */
  extremes(of: 'failures' | 'successes', limit: number): Promise<AuditedEpisode[]> {
    const [success, order] = of === 'failures' ? [0, 'DESC'] : [1, 'ASC'];
    return this.query(
      `SELECT episodeId, total, components FROM scored WHERE success = ${success} ORDER BY total ${order}, episodeId LIMIT {limit:UInt64}`,
      { limit },
    );
  }

  /** Rows of a statement over `scored` (episodeId, success, total, components, stretch) and `named` (success, stretch, name, value). */
  private query<Row>(statement: string, params: Readonly<Record<string, unknown>> = {}): Promise<Row[]> {
    const ofSplit = this.key.split === null ? '' : 'AND split = {split:String}';
    return this.client.queryRows<Row>(
      `WITH scored AS (
         SELECT ofEpisode.episode_id AS episodeId, ofEpisode.success AS success, assumeNotNull(ofScore.total) AS total,
           ofScore.components AS components,
           intDiv((row_number() OVER (ORDER BY ofEpisode.started_at, ofEpisode.episode_id) - 1) * {numStretches:UInt64}, count() OVER ()) AS stretch
         FROM (
           SELECT episode_id, total, components FROM scores
           WHERE run_id = {runId:String} AND reward_version = {version:String} AND total IS NOT NULL
         ) AS ofScore
         INNER JOIN (
           SELECT episode_id, success, started_at FROM episodes WHERE run_id = {runId:String} AND sealed ${ofSplit}
         ) AS ofEpisode ON ofScore.episode_id = ofEpisode.episode_id
       ),
       named AS (
         SELECT success, stretch, pair.1 AS name, pair.2 AS value
         FROM (
           SELECT success, stretch,
             arrayJoin(arrayConcat([('${TOTAL}', total)], arrayZip(mapKeys(components), mapValues(components)))) AS pair
           FROM scored
         )
         WHERE value IS NOT NULL
       )
       ${statement}`,
      { params: { ...this.key, ...params } },
    );
  }
}
