import type { StoreReader } from '@retrace/store';
import { RewardError } from '../errors.js';

export interface NamedVersion {
  readonly version: string;
  readonly name: string;
  /** As the store writes times. */
  readonly namedAt: string;
}

/** The reward versions that a run has scores of, with each of their names; that which was named last first. */
export function listVersions(client: StoreReader, runId: string): Promise<NamedVersion[]> {
  return client.queryRows<NamedVersion>(
    `SELECT reward_version AS version, name, named_at AS namedAt FROM reward_versions WHERE run_id = {runId:String}
     ORDER BY named_at DESC, reward_version, name`,
    { params: { runId } },
  );
}

/**
 * Finds a reward version of a run by its name (the latest with that name) or by its first four or more characters.
 *
 * @throws RewardError `VERSION_UNKNOWN`, naming the known ones; `VERSION_AMBIGUOUS`, naming those that are meant
 */
export async function findVersion(client: StoreReader, runId: string, wanted: string): Promise<NamedVersion> {
  const known = await listVersions(client, runId);
  const named = known.find(({ name }) => name === wanted);
  if (named !== undefined) return named;
  const starting = known.filter(({ version }) => wanted.length >= 4 && version.startsWith(wanted));
  const isOne = new Set(starting.map(({ version }) => version)).size === 1;
  if (isOne) return starting[0];
  const isAmbiguous = starting.length > 0;
  const list = (isAmbiguous ? starting : known)
    .slice(0, MOST_LISTED)
    .map(({ name, version }) => `${name} (${version.slice(0, 12)})`)
    .join(', ');
  throw new RewardError(
    isAmbiguous ? 'VERSION_AMBIGUOUS' : 'VERSION_UNKNOWN',
    `reward version '${wanted}' of run ${runId}: ${isAmbiguous ? 'is ambiguous' : 'has no scores'}; ` +
      (known.length > 0 ? `use one of ${list}` : 'score the run first, with "retrace score"'),
  );
}

/**
 * The reward version of a run that was named last.
 *
 * @throws RewardError `VERSION_UNKNOWN` where it has none
 */
export async function newestVersion(client: StoreReader, runId: string): Promise<string> {
  const known = await listVersions(client, runId);
  if (known.length > 0) return known[0].version;
  throw new RewardError(
    'VERSION_UNKNOWN',
    `run ${runId} has no scores; score it first, with "retrace score"`,
  );
}

/** Versions that a message names. */
const MOST_LISTED = 20;

export interface StoredScore {
  readonly episodeReward: number;
  readonly stepRewards: readonly number[];
}

/** Reads scores by episode; those without a total are absent. */
export async function readScores(
  client: StoreReader,
  {
    runId,
    version,
    episodeIds,
  }: { readonly runId: string; readonly version: string; readonly episodeIds: readonly string[] },
): Promise<Map<string, StoredScore>> {
  const scores = new Map<string, StoredScore>();
  for (let from = 0; from < episodeIds.length; from += IDS_PER_QUERY) {
    const rows = await client.queryRows<StoredScore & { readonly episodeId: string }>(
      `SELECT episode_id AS episodeId, episode_reward AS episodeReward, step_rewards AS stepRewards
       FROM scores
       WHERE run_id = {runId:String} AND reward_version = {version:String} AND episode_id IN {ids:Array(String)}
         AND total IS NOT NULL`,
      { params: { runId, version, ids: episodeIds.slice(from, from + IDS_PER_QUERY) } },
    );
    for (const { episodeId, ...score } of rows) scores.set(episodeId, score);
  }
  return scores;
}

/** Ids are parameters in the address of a query, whose length is limited. */
const IDS_PER_QUERY = 64;
