import type { ClickHouseSettings } from '@clickhouse/client';
import { StoreError } from '../client/store-error.js';

/**
 * How the store's tables lie on its servers. Everything reads table `events` by that name; what differs on a cluster is all here.
 */
export interface StoreLayout {
  /** Name of the cluster in the servers' configuration; null for one server. */
  readonly cluster: string | null;
  /** Table that holds the rows of this shard: the one to insert log records into, to delete from, and to look for parts in. */
  readonly localEvents: string;
  /** Follows the table's name in a statement that every server must run: empty, or ` ON CLUSTER …`. */
  readonly onCluster: string;
  /** Of every statement. */
  readonly settings: ClickHouseSettings;
  /** Of an insert of log records. */
  readonly insertSettings: ClickHouseSettings;
  /** Of the reading of a position: a replica that lags behind would move it back. */
  readonly positionSettings: ClickHouseSettings;
}

const POSITION_SETTINGS: ClickHouseSettings = { select_sequential_consistency: '1' };

export const ONE_SERVER: StoreLayout = {
  cluster: null,
  localEvents: 'events',
  onCluster: '',
  settings: {},
  insertSettings: {},
  positionSettings: POSITION_SETTINGS,
};

const CLUSTER_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * The layout on a cluster: `events_local` has a shard's rows, and `events` reads all of them. A sink inserts into the shard of
 * the server that its URL names.
 *
 * @throws StoreError `CLUSTER_NAME_INVALID`
 */
export function clusterLayout(cluster: string): StoreLayout {
  if (!CLUSTER_NAME.test(cluster)) {
    const rule = 'must be letters, digits, _ and -, not beginning with a digit or -';
    throw new StoreError('CLUSTER_NAME_INVALID', `Cluster is ${JSON.stringify(cluster)}; ${rule}`);
  }
  return {
    cluster,
    localEvents: localTable('events'),
    onCluster: ` ON CLUSTER \`${cluster}\``,
    settings: {
      // Subqueries over `events` in views: run once and sent along, since a run's rows lie on several shards.
      distributed_product_mode: 'global',
      // A statement ON CLUSTER fails when a server does not answer, and is not taken for done.
      distributed_ddl_output_mode: 'throw',
      // Rows of a shard that is away must be missed, not missing.
      skip_unavailable_shards: 0,
    },
    insertSettings: {
      insert_quorum: 'auto',
      // Sequentially consistent reads know nothing of quorum inserts that run side by side.
      insert_quorum_parallel: 0,
    },
    positionSettings: POSITION_SETTINGS,
  };
}

/** The table on each shard behind a table that is spread over shards. */
export function localTable(table: string): string {
  return `${table}_local`;
}
