import type { ControlPayloads } from '../events/control-events.js';
import type { DatasetCreated, DatasetSplitFile } from '../events/dataset-events.js';
import { findDuplicate, type Checks } from './problem.js';
import { integerAtLeast, json, listOf, nonEmptyText, objectOf, oneOf, sha256, text, uuid } from './rules.js';
import type { PayloadRules } from './rules.js';

type DatasetPayloads = Pick<ControlPayloads, 'DatasetEpisodesListed' | 'DatasetCreated'>;

const splitFile = objectOf<DatasetSplitFile>({
  split: nonEmptyText,
  numRows: integerAtLeast(1),
  file: nonEmptyText,
  sha256,
});

const datasetRun = objectOf<DatasetCreated['runs'][number]>({
  runId: uuid,
  numEpisodes: integerAtLeast(1),
});

/** A rule for each field of the events of data sets. */
export const DATASET_RULES: PayloadRules<DatasetPayloads> = {
  DatasetEpisodesListed: {
    name: nonEmptyText,
    contentHash: sha256,
    ofRunId: uuid,
    episodeIds: listOf(uuid),
  },
  DatasetCreated: {
    name: nonEmptyText,
    format: nonEmptyText,
    fileFormat: oneOf('jsonl', 'parquet'),
    sql: text,
    contentHash: sha256,
    splits: listOf(splitFile),
    numEpisodes: integerAtLeast(1),
    runs: listOf(datasetRun),
    contamination: json,
    settings: json,
    location: text,
    codeVersion: text,
  },
};

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
