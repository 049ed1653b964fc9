import { readSealedEpisodes, type EpisodeOfUpdate, type StoreClient } from '@retrace/store';
import { describeProblem } from '@retrace/trajectory';
import { toEpisodeId } from '../convert/episode-id.js';
import { RecordingError } from '../recording-error.js';
import { invalid } from '../wire/check-wire.js';
import type { WireTrainedEpisode } from '../wire/update-requests.js';

interface TrainedEpisodes {
  readonly episodes: readonly WireTrainedEpisode[];
  readonly untilStored: () => Promise<void>;
}

/**
 * The episodes that an update was trained on, as the store has them, in the order of the request.
 *
 * @param untilStored waits until the store has every record of an episode that the log has; called where it lacks one
 * @throws RecordingError `INVALID_RECORDS` without any, or for one that is listed twice; `EPISODE_UNKNOWN` for one that has not ended, or is gone
 */
export async function requireEpisodes(
  client: StoreClient,
  ownRunId: string,
  { episodes, untilStored }: TrainedEpisodes,
): Promise<EpisodeOfUpdate[]> {
  if (episodes.length === 0)
    throw invalid({ index: null, field: 'episodes', value: episodes, rule: 'must have an element' });
  const named = episodes.map(({ run = ownRunId, episode }) => ({
    runId: run,
    episodeId: toEpisodeId(run, episode),
  }));
  const known = new Set<string>();
  const twice = named.findIndex(
    ({ runId, episodeId }) => known.size === known.add(`${runId} ${episodeId}`).size,
  );
  if (twice >= 0) throw invalid({ ...faultOf(episodes, twice), rule: 'must be listed once' });
  const find = () => findEpisodes(client, named);
  let found = await find();
  if (found.includes(undefined)) {
    await untilStored();
    found = await find();
  }
  return found.map((episode, e) => {
    if (episode !== undefined) return episode;
    const rule = `must be an episode of run ${named[e].runId} that has ended`;
    const fault = { ...faultOf(episodes, e), rule };
    throw new RecordingError('EPISODE_UNKNOWN', describeProblem(fault), { faults: [fault] });
  });
}

async function findEpisodes(
  client: StoreClient,
  named: readonly { readonly runId: string; readonly episodeId: string }[],
): Promise<(EpisodeOfUpdate | undefined)[]> {
  const found = new Map<string, ReadonlyMap<string, EpisodeOfUpdate>>();
  for (const runId of new Set(named.map((one) => one.runId))) {
    const ids = named.filter((one) => one.runId === runId).map(({ episodeId }) => episodeId);
    found.set(runId, await readSealedEpisodes(client, runId, ids));
  }
  return named.map(({ runId, episodeId }) => found.get(runId)?.get(episodeId));
}

const faultOf = (episodes: readonly WireTrainedEpisode[], e: number) => ({
  index: null,
  field: `episodes[${e}].episode`,
  value: episodes[e].episode,
});
