import {
  integerAtLeast,
  json,
  listOf,
  nonEmptyText,
  objectOf,
  oneOf,
  type PayloadsOf,
  sha256,
  text,
  uuid,
} from '../fields/field.js';
import { marked } from '../fields/kind-marks.js';

const splitFile = objectOf({
  split: nonEmptyText,
  numRows: integerAtLeast(1),
  /** Path in the data set's directory. */
  file: nonEmptyText,
  /** SHA-256 of the file, hex. */
  sha256,
});

/** The fields of the events of data sets. */
export const DATASET_EVENTS = {
  /**
   * A data set of stored episodes. Data sets never change: the first of a name counts, and one of the same name with another content is
   * refused. Belongs to no run, and so outlives its runs.
   */
  DatasetCreated: marked(['runless'], {
    name: nonEmptyText,
    /** Names the kind of a row, such as `sft`. */
    format: nonEmptyText,
    fileFormat: oneOf('jsonl', 'parquet'),
    /** The query that chose the episodes or steps. */
    sql: text,
    /** SHA-256 over the rows, hex: equal for equal rows, whatever the file format. */
    contentHash: sha256,
    splits: listOf(splitFile),
    /** Episodes that some row is made of. */
    numEpisodes: integerAtLeast(1),
    /** The runs of these episodes. */
    runs: listOf(objectOf({ runId: uuid, numEpisodes: integerAtLeast(1) })),
    /** Tasks, states and texts that splits share. */
    contamination: json,
    /** How rows were chosen and what was left out: score, seed, shares of the splits, duplicates, reasons. */
    settings: json,
    /** The directory with its files, as its maker names it: a path on that machine. */
    location: text,
    codeVersion: text,
  }),

  /** Lists episodes of a data set; together these events, which come before its `DatasetCreated`, list all of them, some perhaps twice. */
  DatasetEpisodesListed: marked(['runless'], {
    /** The data set's name and content hash. */
    name: nonEmptyText,
    contentHash: sha256,
    /** Run of these episodes. */
    ofRunId: uuid,
    episodeIds: listOf(uuid),
  }),
};

export type DatasetCreated = PayloadsOf<typeof DATASET_EVENTS>['DatasetCreated'];
export type DatasetEpisodesListed = PayloadsOf<typeof DATASET_EVENTS>['DatasetEpisodesListed'];
