import { ArrowColumns } from '../arrow/arrow-columns.js';
import type { StoreClient } from '../client/store-client.js';
import { checkUserSql } from '../user-sql/user-sql.js';
import { amongEpisodes } from './among-episodes.js';

/** Values that a sampler reads of episodes beside their groups. */
export interface SamplingQuery {
  /** SQL expression over `PRIORITY_COLUMNS`; null reads no priority. */
  readonly prioritySql: string | null;
  /** Dotted path of the task's field that names its family; null takes the whole task. */
  readonly family: string | null;
}

/** Facts of episodes, which never change; members of a group follow each other in their order. */
export interface SamplingFacts {
  readonly runIds: readonly string[];
  readonly groupIds: readonly string[];
  readonly episodeIds: readonly string[];
  /** [E] */
  readonly numSteps: Int32Array;
  /** [E] 1 = success, 0 = failure, −1 = unknown. */
  readonly successes: Int8Array;
  /** [E] A number for each family of tasks: 53 bits of its hash. */
  readonly families: Float64Array;
  /** [E] Value of the priority's expression; NaN where it is null, and null where none was asked for. */
  readonly priorities: Float64Array | null;
}

/** Columns that a priority may use: those that nothing changes once the episode has ended. */
export const PRIORITY_COLUMNS = [
  'group_id',
  'group_size',
  'group_member',
  'environment',
  'environment_seed',
  'agent',
  'task',
  'end_reason',
  'success',
  'return',
  'num_steps',
  'num_tokens',
  'num_action_tokens',
  'policy_version_min',
  'policy_version_max',
  'started_at',
  'ended_at',
] as const;

/**
 * Reads the episodes of a data set, groups in the order in which they began.
 *
 * @throws UserSqlError for a priority that user SQL does not allow; StoreError for one that the engine refuses
 */
export async function readDatasetFacts(
  client: StoreClient,
  { dataset, ...query }: SamplingQuery & { readonly dataset: string },
): Promise<SamplingFacts> {
  const members = 'SELECT run_id, episode_id FROM dataset_episodes WHERE dataset = {dataset:String}';
  const condition = `run_id IN (SELECT run_id FROM (${members})) AND (run_id, episode_id) IN (${members})`;
  return readFacts(client, { condition, params: { dataset }, ...query });
}

/** Reads episodes of a run; those that the store lacks are left out. */
export async function readEpisodesFacts(
  client: StoreClient,
  {
    runId,
    episodeIds,
    ...query
  }: SamplingQuery & { readonly runId: string; readonly episodeIds: readonly string[] },
): Promise<SamplingFacts> {
  const condition = `run_id = {runId:String} AND ${amongEpisodes(episodeIds)}`;
  return readFacts(client, { condition, params: { runId }, ...query });
}

/** @throws UserSqlError for an expression that user SQL does not allow */
export async function checkPrioritySql(client: StoreClient, prioritySql: string): Promise<void> {
  await checkUserSql(`SELECT toFloat64((\n${prioritySql}\n)) FROM episodes`, {
    tables: ['episodes'],
    explainAst: (sql) => client.explainAst(sql),
  });
}

interface FactsQuery extends SamplingQuery {
  readonly condition: string;
  readonly params: Readonly<Record<string, string>>;
}

async function readFacts(
  client: StoreClient,
  { condition, params, prioritySql, family }: FactsQuery,
): Promise<SamplingFacts> {
  if (prioritySql !== null) await checkPrioritySql(client, prioritySql);
  const path =
    family === null
      ? ''
      : family
          .split('.')
          .map((_, i) => `, {family${i}:String}`)
          .join('');
  const familyParams = family?.split('.').map((name, i) => [`family${i}`, name] as const) ?? [];
  const priority = prioritySql === null ? 'nan' : `ifNull(toFloat64((\n${prioritySql}\n)), nan)`;
  const bytes = await client.queryArrow(
    `SELECT run_id, group_id, episode_id, toUInt32(ifNull(num_steps, 0)) AS steps, toInt8(ifNull(success, -1)) AS outcome,
       toFloat64(bitAnd(cityHash64(JSONExtractRaw(task${path})), 9007199254740991)) AS family, priority
     FROM (
       SELECT *, min(started_at) OVER (PARTITION BY run_id, group_id) AS group_started_at, ${priority} AS priority
       FROM (SELECT run_id, episode_id, ${PRIORITY_COLUMNS.join(', ')} FROM episodes WHERE ${condition})
     )
     ORDER BY group_started_at, run_id, group_id, group_member, episode_id`,
    { params: { ...params, ...Object.fromEntries(familyParams) } },
  );
  const columns = ArrowColumns.read(bytes);
  return {
    runIds: columns.texts('run_id'),
    groupIds: columns.texts('group_id'),
    episodeIds: columns.texts('episode_id'),
    numSteps: Int32Array.from(columns.numbers('steps')),
    successes: Int8Array.from(columns.numbers('outcome')),
    families: Float64Array.from(columns.numbers('family')),
    priorities: prioritySql === null ? null : Float64Array.from(columns.numbers('priority')),
  };
}
