import type { ClickHouseSettings } from '@clickhouse/client';
import { StoreError } from './store-error.js';

/**
 * How the store's tables are laid out on its servers. Every read uses the name `events`; all differences of a cluster are here.
 */
export interface StoreLayout {
  /** Name of the cluster in the servers' configuration; null for one server. */
  readonly cluster: string | null;
  /** Table that holds the rows of this shard: the one to insert log records into, to delete from, and to look for parts in. */
  readonly localEvents: string;
  /** Follows the table's name in a statement that every server must run: empty, or ` ON CLUSTER …`. */
  readonly onCluster: string;
  /** Settings of every statement. */
  readonly settings: ClickHouseSettings;
  /** Settings of an insert of log records. */
  readonly insertSettings: ClickHouseSettings;
  /** Settings for reading a position, which a replica that is behind would move back. */
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
 * Makes the layout of a cluster: `events_local` has a shard's rows, and `events` reads those of all shards. A sink inserts into the shard
 * of the server that its URL names.
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
      // Subqueries over `events` in views run once, on all shards, since a run's rows are on several shards.
      distributed_product_mode: 'global',
      // A statement ON CLUSTER fails when a server does not answer.
      distributed_ddl_output_mode: 'throw',
      // A read fails when a shard is unavailable, instead of leaving out its rows.
      skip_unavailable_shards: 0,
    },
    insertSettings: {
      insert_quorum: 'auto',
      // Sequentially consistent reads do not see parallel quorum inserts.
      insert_quorum_parallel: 0,
    },
    positionSettings: POSITION_SETTINGS,
  };
}

/** The table on each shard behind a table that is spread over shards. */
export function localTable(table: string): string {
  return `${table}_local`;
}
