import { amongEpisodes, type StoreClient } from '@retrace/store';
import { readEpisodeFacts } from '../read-episodes.js';
import type { SkipCounts } from '../skip-counts.js';
import type { EpisodeFacts } from '../stored-episode.js';
import type { Selection } from './read-selection.js';
import type { ForkPoint, SelectedEpisode } from './selected-episode.js';
import { splitOfTask, type SplitShares, taskKey } from './splits.js';

export interface SelectEpisodesOptions {
  /** Null = the splits that the query names, else `train`. */
  readonly shares: SplitShares | null;
  readonly seed: number;
  /** `return`, `success`, or the name of a reward that was assigned to episodes. */
  readonly score: string;
}

/** Reads what is known of the chosen episodes and gives each its split and score. Those that have not ended are skipped. */
export async function selectEpisodes(
  client: StoreClient,
  selections: readonly Selection[],
  { shares, seed, score, skipped }: SelectEpisodesOptions & { readonly skipped: SkipCounts },
): Promise<SelectedEpisode[]> {
  const facts = await readEpisodeFacts(client, selections);
  const known = [...facts.values()];
  const scores = await readScores(client, known, score);
  const forks = await readForkPoints(client, known);
  return selections.flatMap(({ episodeId, steps, split }) => {
    const episode = facts.get(episodeId);
    if (episode === undefined) return skipped.skip('the store has no such episode');
    if (!episode.sealed) return skipped.skip('the episode has not ended');
    return {
      facts: episode,
      steps,
      split: shares === null ? (split ?? 'train') : splitOfTask(taskKey(episode), shares, seed),
      score: scores.get(episodeId) ?? null,
      forkedFrom: forks.get(episodeId) ?? null,
    };
  });
}

const EPISODES_PER_QUERY = 5_000;

async function* slices(facts: readonly EpisodeFacts[]) {
  for (let from = 0; from < facts.length; from += EPISODES_PER_QUERY)
    yield facts.slice(from, from + EPISODES_PER_QUERY).map(({ episodeId }) => episodeId);
}

async function readScores(
  client: StoreClient,
  facts: readonly EpisodeFacts[],
  score: string,
): Promise<Map<string, number>> {
  const scores = new Map<string, number>();
  if (score === 'return' || score === 'success') {
    for (const episode of facts) {
      const value = episode[score];
      if (value !== null) scores.set(episode.episodeId, Number(value));
    }
    return scores;
  }
  for await (const episodeIds of slices(facts)) {
    const rows = await client.queryRows<{ episodeId: string; value: number }>(
      `SELECT episode_id AS episodeId, sum(value) AS value FROM current_rewards
       WHERE name = {score:String} AND ${amongEpisodes(episodeIds)} GROUP BY run_id, episode_id`,
      { params: { score } },
    );
    for (const { episodeId, value } of rows) scores.set(episodeId, value);
  }
  return scores;
}

async function readForkPoints(
  client: StoreClient,
  facts: readonly EpisodeFacts[],
): Promise<Map<string, ForkPoint>> {
  const forks = new Map<string, ForkPoint>();
  for await (const episodeIds of slices(facts)) {
    const rows = await client.queryRows<{ child: string; parent: string; step: number }>(
      `SELECT episode_id AS child, JSONExtractString(payload, 'forkedFrom', 'episodeId') AS parent,
         JSONExtractUInt(payload, 'forkedFrom', 'step') AS step
       FROM events
       WHERE ${amongEpisodes(episodeIds)} AND kind = 'EpisodeStarted' AND parent != ''
       ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
       LIMIT 1 BY run_id, episode_id`,
    );
    for (const { child, parent, step } of rows) forks.set(child, { episodeId: parent, step });
  }
  return forks;
}
