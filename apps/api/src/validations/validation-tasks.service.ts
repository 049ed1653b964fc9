import { Injectable } from '@nestjs/common';
import type { Json } from '@retrace/trajectory';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { StoreService } from '../store/store.service.js';
import type { ValidationAttempt, ValidationTask } from './validation-tasks.dto.js';

interface ValidatedVersions {
  readonly numVersions: number;
  readonly first: number;
  readonly newest: number;
}

type AttemptRow = Omit<ValidationAttempt, 'policyVersion'>;

interface TaskRow {
  readonly taskId: string;
  readonly environmentSeed: number | null;
  /** JSON; empty for none. */
  readonly task: string;
  readonly first: AttemptRow;
  readonly newest: AttemptRow;
}

/** Episodes of validation with the policy and the decoding that they began with: an annotation may replace the metadata of an episode later. */
const PLAYED = `
  SELECT episode_id, JSONExtract(any(metadata), 'validation', 'policyVersion', 'Nullable(Int64)') AS validated_version,
    JSONExtractString(any(metadata), 'validation', 'decoding') AS decoding
  FROM events
  WHERE run_id = {runId:String} AND episode_id != '' AND kind = 'EpisodeStarted' AND split = 'validation'
  GROUP BY episode_id`;

/** Those whose figures are there, and whose episodes are stored: they come a moment after the figures, and may have been deleted. */
const FIND_VERSIONS = `
  SELECT uniqExact(policy_version) AS num_versions, min(policy_version) AS first, max(policy_version) AS newest
  FROM validations
  WHERE run_id = {runId:String} AND split = 'validation'
    AND policy_version IN (
      SELECT validated_version
      FROM (${PLAYED})
      WHERE episode_id IN (SELECT episode_id FROM episodes WHERE run_id = {runId:String} AND sealed))`;

/** Of several attempts of a policy at a task, the greedy one counts, or else the first. */
const attemptOf = (version: string) => `
  argMinIf(
    CAST(tuple(episode_id, success, \`return\`, num_steps), 'Tuple(episodeId String, success Nullable(Bool), return Nullable(Float64), numSteps UInt64)'),
    tuple(decoding != 'greedy', group_member, episode_id),
    validated_version = {${version}:Int64})`;

const LIST_TASKS = `
  WITH validated AS (
    SELECT * FROM (${PLAYED}) WHERE validated_version IN ({first:Int64}, {newest:Int64}))
  SELECT task_id, any(seed) AS environment_seed, any(task_json) AS task, ${attemptOf('first')} AS first, ${attemptOf('newest')} AS newest
  FROM (
    SELECT episode_id, success, \`return\`, num_steps, group_member, environment_seed AS seed, task AS task_json,
      lower(hex(sipHash64(environment, ifNull(environment_seed, -1), task))) AS task_id
    FROM episodes
    WHERE run_id = {runId:String} AND episode_id IN (SELECT episode_id FROM validated) AND sealed) AS played
  INNER JOIN validated USING (episode_id)
  GROUP BY task_id
  HAVING countIf(validated_version = {first:Int64}) > 0 AND countIf(validated_version = {newest:Int64}) > 0
  ORDER BY newest.success AND NOT first.success DESC NULLS LAST, first.episodeId
  LIMIT {limit:UInt32} OFFSET {skipped:UInt64}`;

/** The tasks of validation as the first and the newest validated policy of a run played them. */
@Injectable()
export class ValidationTasksService {
  constructor(private readonly store: StoreService) {}

  /** Tasks that the newest policy solved and the first did not come first. A validation that comes between two pages moves tasks between them. */
  async list(runId: string, { limit, cursor }: PageQuery): Promise<Page<ValidationTask>> {
    const [skipped] = cursor ? decodeCursor(cursor, ['number']) : [0];
    const [{ numVersions, first, newest }] = await this.store.queryRows<ValidatedVersions>(FIND_VERSIONS, {
      runId,
    });
    if (numVersions === 0) return { items: [], nextCursor: null };
    const params = { runId, first, newest, skipped, limit: limit + 1 };
    const rows = await this.store.queryRows<TaskRow>(LIST_TASKS, params);
    return makePage(rows, limit, {
      toItem: ({ taskId, environmentSeed, task, ...attempts }) => ({
        ...{ taskId, environmentSeed, task: task === '' ? null : (JSON.parse(task) as Json) },
        first: { ...attempts.first, policyVersion: first },
        newest: numVersions === 1 ? null : { ...attempts.newest, policyVersion: newest },
      }),
      keyOf: () => [skipped + limit],
    });
  }
}
