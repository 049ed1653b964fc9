import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { overriding } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { insertBatch } from '../batch/insert-batch.js';
import type { ArrowInsert, StatementOptions, StoreClient } from '../client/store-client.js';
import { readNextOffset } from '../position/store-position.js';
import { EventRowsEncoder } from '../rows/event-rows.js';
import { migrate, MIGRATIONS_DIRECTORY } from './migrate.js';
import { renderForCluster } from './render-migration.js';
import { type MigrationStatement, readSchemaFiles } from './schema-files.js';
import { clusterLayout, ONE_SERVER } from '../client/store-layout.js';

const TARGET = { cluster: 'main', database: 'trajectories' };
const position = { logId: 'log', stream: 'trajectories', partition: 1 } as const;

async function allStatements(): Promise<readonly MigrationStatement[]> {
  const { migrations, views } = await readSchemaFiles(MIGRATIONS_DIRECTORY);
  return [...migrations.flatMap(({ statements }) => statements), ...views.statements];
}

describe('renderForCluster and clusterLayout', () => {
  let store: StoreFixture;

  beforeAll(async () => {
    store = await openStoreFixture();
  });

  afterAll(() => store.close());

  it('renders every migration into statements that the engine parses', async () => {
    const rendered = (await allStatements()).flatMap(({ sql }) => renderForCluster(sql, TARGET));
    for (const sql of rendered) {
      // formatQuery is the engine's own parser, and writes what it understood.
      const [{ text }] = await store.client.queryRows<{ text: string }>(
        'SELECT formatQuery({sql:String}) AS text',
        {
          params: { sql },
        },
      );
      expect(text).toContain('ON CLUSTER main');
    }
    const engines = rendered.flatMap((sql) => /\bENGINE = \w+/.exec(sql) ?? []);
    expect(engines).toEqual([
      'ENGINE = ReplicatedReplacingMergeTree',
      'ENGINE = Distributed',
      'ENGINE = ReplicatedReplacingMergeTree',
      'ENGINE = ReplicatedReplacingMergeTree',
      'ENGINE = ReplicatedReplacingMergeTree',
    ]);
  });

  it.each([
    [
      'CREATE TABLE IF NOT EXISTS events (x Int32) ENGINE = MergeTree ORDER BY x',
      [
        "CREATE TABLE IF NOT EXISTS events_local ON CLUSTER `main` (x Int32) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}') ORDER BY x",
        "CREATE TABLE IF NOT EXISTS events ON CLUSTER `main` AS events_local ENGINE = Distributed('main', 'trajectories', 'events_local')",
      ],
    ],
    [
      'CREATE TABLE IF NOT EXISTS scores (x Int32) ENGINE = ReplacingMergeTree(x) ORDER BY x',
      [
        "CREATE TABLE IF NOT EXISTS scores ON CLUSTER `main` (x Int32) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/all', '{shard}-{replica}', x) ORDER BY x",
      ],
    ],
    [
      'CREATE OR REPLACE VIEW v AS SELECT * FROM events',
      ['CREATE OR REPLACE VIEW v ON CLUSTER `main` AS SELECT * FROM events'],
    ],
    [
      'ALTER TABLE events MODIFY SETTING a = 1, b = 2',
      ['ALTER TABLE events_local ON CLUSTER `main` MODIFY SETTING a = 1, b = 2'],
    ],
    [
      'ALTER TABLE events ADD COLUMN y Decimal(9, 2), DROP COLUMN x',
      [
        'ALTER TABLE events_local ON CLUSTER `main` ADD COLUMN y Decimal(9, 2), DROP COLUMN x',
        'ALTER TABLE events ON CLUSTER `main` ADD COLUMN y Decimal(9, 2), DROP COLUMN x',
      ],
    ],
    ['DROP VIEW IF EXISTS v', ['DROP VIEW IF EXISTS v ON CLUSTER `main`']],
  ])('renders %s', (sql, expected) => {
    expect(renderForCluster(sql, TARGET)).toEqual(expected);
  });

  it.each([
    'SELECT 1',
    'INSERT INTO events VALUES (1)',
    'CREATE TABLE events (x Int32) ENGINE = MergeTree ORDER BY x',
    'CREATE TABLE IF NOT EXISTS other.events (x Int32) ENGINE = MergeTree ORDER BY x',
    'CREATE TABLE IF NOT EXISTS events (x Int32) ENGINE = Memory',
    'ALTER TABLE events ADD COLUMN y Int32, ADD INDEX i x TYPE minmax',
  ])('refuses %s, for which it has no rendering', (sql) => {
    expect(() => renderForCluster(sql, TARGET)).toThrowError(
      expect.objectContaining({ code: 'MIGRATION_INVALID' }) as Error,
    );
  });

  it('leaves statements unchanged for one server', async () => {
    const sent: string[] = [];
    const lock = () => {
      const created = sent.find((sql) => sql.startsWith('CREATE TABLE schema_migrations_lock_1 '));
      const holder = created?.split("'")[1] ?? '';
      return { lock: created === undefined ? 0 : 1, holder, num_ledger_rows: 0 };
    };
    const recording = overriding<StoreClient>(store.client, {
      queryRows: <Row>(sql: string) =>
        Promise.resolve((sql.includes('system.tables') ? [lock()] : []) as Row[]),
      command: (sql) => {
        sent.push(sql);
        return Promise.resolve();
      },
    });
    await migrate(recording);
    const files = (await allStatements()).map(({ sql }) => sql);
    expect(sent.filter((sql) => !sql.includes('schema_migrations'))).toEqual(files);
  });

  it('inserts log records into one shard with a quorum, and reads positions consistent with that quorum', async () => {
    const inserts: ArrowInsert[] = [];
    const reads: (StatementOptions | undefined)[] = [];
    const clustered = overriding<StoreClient>(store.client, {
      layout: clusterLayout('main'),
      insertArrow: (insert) => {
        inserts.push(insert);
        return store.client.insertArrow({ ...insert, table: 'events' });
      },
      queryRows: (sql, options) => {
        reads.push(options);
        return store.client.queryRows(sql, options);
      },
    });
    const encoder = new EventRowsEncoder(position);
    encoder.append({ offset: 41, watermark: true });
    await insertBatch(clustered, encoder.finish());
    expect(await readNextOffset(clustered, position)).toBe(42);
    expect(inserts).toMatchObject([
      { table: 'events_local', settings: { insert_quorum: 'auto', insert_quorum_parallel: 0 } },
    ]);
    expect(reads).toMatchObject([{ settings: { select_sequential_consistency: '1' } }]);
  });

  it('uses only settings that the engine has', async () => {
    const { settings, insertSettings, positionSettings } = clusterLayout('main');
    const names = Object.keys({ ...settings, ...insertSettings, ...positionSettings });
    const known = await store.client.queryRows<{ name: string }>(
      'SELECT name FROM system.settings WHERE name IN {names:Array(String)}',
      { params: { names } },
    );
    expect(known.map(({ name }) => name).sort()).toEqual(names.sort());
  });

  it.each(['', '1st', 'a`b', "a' b"])('refuses %j as the name of a cluster', (cluster) => {
    expect(() => clusterLayout(cluster)).toThrowError(
      expect.objectContaining({ code: 'CLUSTER_NAME_INVALID' }) as Error,
    );
  });

  it('has the same names for one server', () => {
    expect(ONE_SERVER).toMatchObject({ cluster: null, localEvents: 'events', onCluster: '', settings: {} });
  });
});
