import type { StoreClient } from '../client/store-client.js';

/** Names a table for a statement that changes rows: of `events` on a cluster, its parts on every server. */
export function mutationTarget({ layout }: StoreClient, table: string): string {
  return table === 'events' ? `${layout.localEvents}${layout.onCluster}` : table;
}
