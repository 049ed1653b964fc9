import type { StoreClient } from '../client/store-client.js';
import { mutationTarget } from './mutation-target.js';

export interface RowsToHide {
  readonly table: string;
  /** Condition in SQL. */
  readonly where: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Deletes rows lightly: they are hidden on every replica when it resolves, and gone after a merge of their parts. */
export async function hideRows(client: StoreClient, { table, where, params }: RowsToHide): Promise<void> {
  await client.command(`DELETE FROM ${mutationTarget(client, table)} WHERE ${where}`, {
    params,
    settings: { lightweight_deletes_sync: '2' },
  });
}
