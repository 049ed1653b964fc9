import type { Json } from '@retrace/trajectory';
import type { SchemaElement } from 'hyparquet-writer';
import type { SelectedEpisode } from '../selection/selected-episode.js';
import type { SkipCounts } from '../skip-counts.js';
import type { StoredEpisode } from '../stored-episode.js';

export type DatasetRow = Readonly<Record<string, Json>>;

/** An episode, and the step that a row is about where it is about one. */
export interface RowMember {
  readonly episode: SelectedEpisode;
  readonly step: number | null;
}

/** The episodes that one row is made of. */
export interface RowPlan {
  readonly split: string;
  /** One episode; for preference pairs the better one, then the worse one. */
  readonly members: readonly RowMember[];
}

/** Rows, at least one, or why there is none. */
export type BuiltRow =
  | { readonly kind: 'rows'; readonly rows: readonly DatasetRow[] }
  | { readonly kind: 'skipped'; readonly reason: string };

export const newRow = (row: DatasetRow): BuiltRow => ({ kind: 'rows', rows: [row] });
export const newRows = (rows: readonly DatasetRow[]): BuiltRow => ({ kind: 'rows', rows });
export const noRow = (reason: string): BuiltRow => ({ kind: 'skipped', reason });

/** Plans rows from what is known of the episodes, then builds each from its episodes with their steps. */
export interface DatasetFormat {
  readonly description: string;
  /** Whether `build` needs the token columns. */
  readonly withTokens: boolean;
  /** Whether it needs what else is known of steps, such as their info (default: as `withTokens`). */
  readonly withDetails?: boolean;
  /** Columns of a Parquet file, without the root. */
  readonly columns: readonly (readonly SchemaElement[])[];
  plan(episodes: readonly SelectedEpisode[], skipped: SkipCounts): RowPlan[];
  build(plan: RowPlan, episodes: readonly StoredEpisode[]): BuiltRow;
}
