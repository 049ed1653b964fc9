import type { StoreReader } from '@retrace/store';
import { ALL_SCORES } from '../diff/score-pairs.js';

export interface AuditedScoresKey {
  readonly runId: string;
  readonly version: string;
  /** Only episodes of this split; null = all. */
  readonly split: string | null;
}

/** Episodes that the version has scored. */
export interface AuditedCounts {
  readonly numEpisodes: number;
  readonly numWithTotal: number;
  /** With a total, of which it is known whether they reached their goal. */
  readonly numWithSuccess: number;
}

/** An episode whose reward and success tell different things. */
export interface AuditedEpisode {
  readonly episodeId: string;
  readonly total: number;
  /** Before their weights; null where a component has no value. */
  readonly components: Readonly<Record<string, number | null>>;
}

/** The total, or a component as it counts in the total: its value times its weight. */
interface NamedValue {
  readonly kind: 'total' | 'component';
  /** `total`, or the name of the component. */
  readonly name: string;
  readonly mean: number;
}

/** A value over all episodes that have it and a total. */
export interface ValueRow extends NamedValue {
  readonly numEpisodes: number;
  /** Null where no episode of that outcome has the value. */
  readonly meanOfSuccesses: number | null;
  readonly meanOfFailures: number | null;
}

/** A value over the episodes of a stretch. */
export interface StretchRow extends NamedValue {
  readonly stretch: number;
}

/** The episodes of a run that a reward version has scored, as relations in the store, where queries about them are computed. */
export class AuditedScores {
  constructor(
    private readonly client: StoreReader,
    private readonly key: AuditedScoresKey,
  ) {}

  async counts(): Promise<AuditedCounts> {
    const [counts] = await this.query<AuditedCounts>(
      `SELECT count() AS numEpisodes, countIf(total IS NOT NULL) AS numWithTotal,
         countIf(total IS NOT NULL AND success IS NOT NULL) AS numWithSuccess FROM scored`,
    );
    return counts;
  }

  /** Episodes with a total, cut by time into stretches of equally many. */
  stretches(
    numStretches: number,
  ): Promise<{ readonly stretch: number; readonly numEpisodes: number; readonly success: number | null }[]> {
    return this.query(
      `SELECT stretch, count() AS numEpisodes, avg(success) AS success
       FROM (SELECT success, ${STRETCH} AS stretch FROM scored WHERE total IS NOT NULL)
       GROUP BY stretch ORDER BY stretch`,
      { numStretches },
    );
  }

  /** The total first, then the components by name. */
  values(): Promise<ValueRow[]> {
    return this.query(
      `SELECT kind, name, count() AS numEpisodes, avg(value) AS mean,
         avgOrNullIf(value, success = 1) AS meanOfSuccesses, avgOrNullIf(value, success = 0) AS meanOfFailures
       FROM (${named('success')})
       GROUP BY kind, name ORDER BY kind = 'component', name`,
    );
  }

  /** The mean of each value in each stretch. */
  valuesByStretch(numStretches: number): Promise<StretchRow[]> {
    return this.query(
      `SELECT kind, name, stretch, avg(value) AS mean
       FROM (${named(`${STRETCH} AS stretch`)})
       GROUP BY kind, name, stretch`,
      { numStretches },
    );
  }

  /** The share of failures whose total is at least the median of the successes; null without either. */
  async paidFailures(): Promise<number | null> {
    const [{ share }] = await this.query<{ readonly share: number | null }>(
      `SELECT avgOrNullIf(assumeNotNull(total) >= (SELECT quantileExactOrNullIf(0.5)(assumeNotNull(total), success = 1) FROM scored WHERE total IS NOT NULL), success = 0) AS share
       FROM scored WHERE total IS NOT NULL`,
    );
    return share;
  }

  /** Failures with the highest totals, or successes with the lowest. */
  extremes(of: 'failures' | 'successes', limit: number): Promise<AuditedEpisode[]> {
    const [success, order] = of === 'failures' ? [0, 'DESC'] : [1, 'ASC'];
    return this.query(
      `SELECT episodeId, total, components FROM scored WHERE total IS NOT NULL AND success = ${success}
       ORDER BY total ${order}, episodeId LIMIT {limit:UInt64}`,
      { limit },
    );
  }

  /** Rows of a statement over `scored`: episodeId, success, startedAt, total, components, weights. */
  private query<Row>(statement: string, params: Readonly<Record<string, unknown>> = {}): Promise<Row[]> {
    const ofSplit = this.key.split === null ? '' : 'AND split = {split:String}';
    return this.client.queryRows<Row>(
      `WITH scored AS (
         SELECT ofEpisode.episode_id AS episodeId, ofEpisode.success AS success, ofEpisode.started_at AS startedAt,
           ofScore.total AS total, ofScore.components AS components, ofScore.weights AS weights
         FROM (
           SELECT episode_id, total, components, weights FROM scores
           WHERE run_id = {runId:String} AND reward_version = {version:String}
         ) AS ofScore
         INNER JOIN (
           SELECT episode_id, success, started_at FROM episodes WHERE run_id = {runId:String} AND sealed ${ofSplit}
         ) AS ofEpisode ON ofScore.episode_id = ofEpisode.episode_id
       )
       ${statement}`,
      { params: { ...this.key, ...params }, settings: ALL_SCORES },
    );
  }
}

/** The stretch of an episode with a total. */
const STRETCH = `intDiv((row_number() OVER (ORDER BY startedAt, episodeId) - 1) * {numStretches:UInt64},
  (SELECT count() FROM scored WHERE total IS NOT NULL))`;

/** A row for each value of each episode with a total: kind, name, value, and the named column. */
function named(column: string): string {
  const as = column.replace(/^.* AS /s, '');
  return `
    SELECT ${as}, part.1 AS kind, part.2 AS name, part.3 AS value
    FROM (
      SELECT ${column},
        arrayJoin(arrayConcat(
          [('total', 'total', total)],
          arrayMap(name -> ('component', name, components[name] * weights[name]), mapKeys(components)))) AS part
      FROM scored WHERE total IS NOT NULL
    )
    WHERE value IS NOT NULL`;
}
