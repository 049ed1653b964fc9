import type { Json } from '../json/json.js';

export interface DatasetSplitFile {
  readonly split: string;
  readonly numRows: number;
  /** Path in the data set's directory. */
  readonly file: string;
  /** SHA-256 of the file, hex. */
  readonly sha256: string;
}

/**
 * A data set of stored episodes. Data sets never change: the first of a name counts, and one of the same name with another content is
 * refused. Belongs to no run, and so outlives its runs.
 */
export interface DatasetCreated {
  readonly name: string;
  /** Names the kind of a row, such as `sft`. */
  readonly format: string;
  readonly fileFormat: 'jsonl' | 'parquet';
  /** The query that chose the episodes or steps. */
  readonly sql: string;
  /** SHA-256 over the rows, hex: equal for equal rows, whatever the file format. */
  readonly contentHash: string;
  readonly splits: readonly DatasetSplitFile[];
  /** Episodes that some row is made of. */
  readonly numEpisodes: number;
  /** The runs of these episodes. */
  readonly runs: readonly { readonly runId: string; readonly numEpisodes: number }[];
  /** Tasks, states and texts that splits share. */
  readonly contamination: Json;
  /** How rows were chosen and what was left out: score, seed, shares of the splits, duplicates, reasons. */
  readonly settings: Json;
  /** The directory with its files, as its maker names it: a path on that machine. */
  readonly location: string;
  readonly codeVersion: string;
}

/** Lists episodes of a data set; together these events, which come before its `DatasetCreated`, list all of them, some perhaps twice. */
export interface DatasetEpisodesListed {
  /** The data set's name and content hash. */
  readonly name: string;
  readonly contentHash: string;
  /** Run of these episodes. */
  readonly ofRunId: string;
  readonly episodeIds: readonly string[];
}
