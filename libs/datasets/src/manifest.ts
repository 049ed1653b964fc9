import type { ContaminationReport } from './contamination/contamination.js';
import type { DatasetFormatName } from './formats/formats.js';
import type { SplitShares } from './selection/splits.js';

export type DatasetFileFormat = 'jsonl' | 'parquet';

export interface ManifestSplit {
  readonly split: string;
  readonly numRows: number;
  /** Path in the data set's directory. */
  readonly file: string;
  /** Of the file, in hex. */
  readonly sha256: string;
}

/** The settings, source and files of a data set; `manifest.json` in its directory. */
export interface DatasetManifest {
  readonly name: string;
  readonly format: DatasetFormatName;
  readonly fileFormat: DatasetFileFormat;
  /** The query that chose the episodes or steps. */
  readonly sql: string;
  readonly score: string;
  /** Null where the query named the splits, or there is only `train`. */
  readonly splitShares: SplitShares | null;
  readonly seed: number;
  /** SHA-256 over the names of the splits and their rows as JSON lines: equal for equal rows, whatever the file format. */
  readonly contentHash: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly codeVersion: string;
  /** The log that the store was up to date with, and its end offsets by partition of stream `trajectories`. */
  readonly log: { readonly logId: string; readonly endOffsets: readonly number[] };
  readonly runIds: readonly string[];
  readonly numEpisodes: number;
  readonly splits: readonly ManifestSplit[];
  /** Counts of episodes, steps and pairs that gave no row, by reason. */
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
  readonly numDuplicates: number;
  readonly droppedDuplicates: boolean;
  readonly contamination: ContaminationReport;
}
