import type { ControlPayloads } from '../events/event-fields.js';
import { findDuplicate, type Checks } from './between-fields.js';

type DatasetPayloads = Pick<ControlPayloads, 'DatasetEpisodesListed' | 'DatasetCreated'>;

/** Rules between fields of the events of data sets. */
export const DATASET_CHECKS: Checks<DatasetPayloads> = {
  DatasetEpisodesListed: ({ payload: { episodeIds } }) =>
    episodeIds.length === 0
      ? { field: 'payload.episodeIds.length', value: 0, rule: 'must be ≥ 1' }
      : findDuplicate({ episodeIds }),

  DatasetCreated: ({ payload: { format, splits, runs, numEpisodes } }) => {
    // A list of episodes is only in the log.
    if (splits.length === 0 && format !== 'episodes')
      return { field: 'payload.splits.length', value: 0, rule: 'must be ≥ 1' };
    const sum = runs.reduce((total, run) => total + run.numEpisodes, 0);
    if (sum !== numEpisodes) {
      const rule = `must be the sum over payload.runs, ${sum}`;
      return { field: 'payload.numEpisodes', value: numEpisodes, rule };
    }
    return (
      findDuplicate({ splits: splits.map((entry) => entry.split) }) ??
      findDuplicate({ runs: runs.map(({ runId }) => runId) })
    );
  },
};
