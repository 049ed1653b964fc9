import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startStoreServer, type StoreServer } from '@retrace/store-server';
import { createStoreClient, type StoreClient } from '../client/store-client.js';
import { migrate, MIGRATIONS_DIRECTORY } from './migrate.js';
import { readSchemaFiles, splitStatements } from './schema-files.js';
import { readSchemaState } from './schema-state.js';

const VIEWS = [
  'alarm_acknowledgements',
  'alarm_silences',
  'current_rewards',
  'dataset_episodes',
  'datasets',
  'dead_letters',
  'discarded_groups',
  'episodes',
  'forks',
  'groups',
  'metrics',
  'notebooks',
  'policies',
  'reward_assignments',
  'reward_versions',
  'runs',
  'sampling_blocks',
  'scores',
  'step_values',
  'steps',
  'stored_episodes',
  'stored_steps',
  'update_groups',
  'update_inputs',
  'update_tokens',
  'updates',
  'validations',
  'warnings',
];

describe('migrate', () => {
  let scratch: string;
  let directory: string;
  let server: StoreServer;
  let root: StoreClient;
  let client: StoreClient;
  let numDatabases = 0;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'retrace-migrate-'));
    const users = [{ name: 'retrace', password: 'secret', access: 'full' as const }];
    server = await startStoreServer({
      dataDirectory: join(scratch, 'store'),
      host: '127.0.0.1',
      port: 0,
      users,
    });
    root = createStoreClient({ url: server.url, username: 'retrace', password: 'secret' });
  });

  afterAll(async () => {
    await client.close();
    await root.close();
    await server.close();
    await rm(scratch, { recursive: true });
  });

  beforeEach(async () => {
    const database = `migrate_${++numDatabases}`;
    await root.command(`CREATE DATABASE ${database}`);
    client = createStoreClient({ url: server.url, username: 'retrace', password: 'secret', database });
    directory = join(scratch, database);
    await mkdir(directory);
  });

  async function write(name: string, sql: string): Promise<void> {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, sql);
  }

  async function tables(): Promise<string[]> {
    const rows = await client.queryRows<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND name != 'schema_migrations' ORDER BY name",
    );
    return rows.map(({ name }) => name);
  }

  it('creates the fact table and every public view, and does nothing the second time', async () => {
    expect(await migrate(client)).toEqual({
      applied: ['0001_tables.sql', '0002_routed_experts.sql', 'views'],
    });
    expect(await tables()).toEqual(
      [
        ...['events', 'reward_definitions', 'reward_scores', 'traced_inputs'],
        ...VIEWS,
        'current_trainer_events',
      ].sort(),
    );
    for (const view of VIEWS) expect(await client.queryRows(`SELECT * FROM ${view}`)).toEqual([]);
    expect(await migrate(client)).toEqual({ applied: [] });
  });

  it(
    'brings an empty store up to date when several roles start at once, without an error in any',
    { tags: 'release' },
    async () => {
      const others = Array.from({ length: 5 }, () =>
        createStoreClient({
          url: server.url,
          username: 'retrace',
          password: 'secret',
          database: client.database,
        }),
      );
      await Promise.all([client, ...others].map((each) => migrate(each)));
      await Promise.all(others.map((each) => each.close()));
      const [alone] = [`alone_${numDatabases}`];
      await root.command(`CREATE DATABASE ${alone}`);
      const reference = createStoreClient({
        url: server.url,
        username: 'retrace',
        password: 'secret',
        database: alone,
      });
      await migrate(reference);
      expect(await definitionsIn(client)).toEqual(await definitionsIn(reference));
      await reference.close();
      expect(await migrate(client)).toEqual({ applied: [] });
      const doubled =
        'SELECT migration, statement FROM schema_migrations FINAL GROUP BY ALL HAVING count() > 1';
      expect(await client.queryRows(doubled)).toEqual([]);
    },
  );

  /** Every table and view as the engine describes it, without its database. */
  async function definitionsIn({ database }: StoreClient): Promise<string[]> {
    const rows = await root.queryRows<{ definition: string }>(
      "SELECT replaceAll(create_table_query, {database:String} || '.', '') AS definition FROM system.tables WHERE database = {database:String} ORDER BY name",
      { params: { database } },
    );
    return rows.map(({ definition }) => definition);
  }

  it('applies migrations that were added since', async () => {
    await write('0001_first.sql', 'CREATE TABLE IF NOT EXISTS a (x Int32) ENGINE = MergeTree ORDER BY x;');
    expect(await migrate(client, { directory })).toEqual({ applied: ['0001_first.sql'] });
    await write(
      '0002_second.sql',
      'CREATE OR REPLACE VIEW b AS SELECT 1; CREATE OR REPLACE VIEW c AS SELECT 2',
    );
    expect(await migrate(client, { directory })).toEqual({ applied: ['0002_second.sql'] });
    expect(await tables()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    [
      'a statement reads otherwise',
      'CREATE OR REPLACE VIEW a AS SELECT 2; CREATE OR REPLACE VIEW b AS SELECT 1',
      'statement 1',
    ],
    ['a statement is gone', 'CREATE OR REPLACE VIEW a AS SELECT 1', 'statement 2'],
    [
      'a statement was added',
      'CREATE OR REPLACE VIEW a AS SELECT 1; CREATE OR REPLACE VIEW b AS SELECT 1; SELECT 1',
      'its number of statements',
    ],
  ])('refuses an applied file in which %s', async (_, edited, what) => {
    await write(
      '0001_views.sql',
      'CREATE OR REPLACE VIEW a AS SELECT 1; CREATE OR REPLACE VIEW b AS SELECT 1',
    );
    await migrate(client, { directory });
    await write('0001_views.sql', edited);
    await expect(migrate(client, { directory })).rejects.toMatchObject({
      code: 'MIGRATION_EDITED',
      retriable: false,
      message: `Migration 0001_views.sql has run already, and ${what} was changed since; restore the file and add a new migration`,
    });
  });

  it('resumes a half-applied file after the last statement that ran, also when the rest was repaired', async () => {
    const first =
      'CREATE TABLE IF NOT EXISTS runs_once (at DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY at';
    const second = 'INSERT INTO runs_once VALUES (now())';
    await write('0001_broken.sql', `${first};\n${second};\nCREATE VIEW broken AS SELECT no_such_function();`);
    await expect(migrate(client, { directory })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringContaining('Statement 3 of migration 0001_broken.sql failed') as string,
    });
    await write('0001_broken.sql', `${first};\n${second};\nCREATE OR REPLACE VIEW broken AS SELECT 1;`);
    expect(await migrate(client, { directory })).toEqual({ applied: ['0001_broken.sql'] });
    expect(await client.queryRows('SELECT count() AS n FROM runs_once')).toEqual([{ n: 1 }]);
    expect(await tables()).toEqual(['broken', 'runs_once']);
  });

  const TABLE = 'CREATE TABLE IF NOT EXISTS a (x Int32) ENGINE = MergeTree ORDER BY x';
  const viewOf = (name: string, columns: string) =>
    `CREATE OR REPLACE VIEW ${name} AS SELECT ${columns} FROM a;`;
  const writeViews = async (version: number, sql: string) => {
    await write('views/version', `${version}\n`);
    await write('views/all.sql', sql);
  };
  const columnsOf = async (view: string) => {
    const rows = await client.queryRows<{ name: string }>(`DESCRIBE ${view}`);
    return rows.map(({ name }) => name);
  };

  it('makes all views again when one of them has changed, or a table that they read', async () => {
    await write('0001_a.sql', TABLE);
    await writeViews(1, viewOf('everything', '*') + viewOf('twice', '2 * x AS y'));
    expect(await migrate(client, { directory })).toEqual({ applied: ['0001_a.sql', 'views'] });
    expect(await migrate(client, { directory })).toEqual({ applied: [] });
    await writeViews(2, viewOf('everything', '*') + viewOf('twice', '2 * x AS y, 3 AS z'));
    expect(await migrate(client, { directory })).toEqual({ applied: ['views'] });
    expect(await columnsOf('twice')).toEqual(['y', 'z']);
    await write('0002_b.sql', 'ALTER TABLE a ADD COLUMN IF NOT EXISTS b String');
    expect(await migrate(client, { directory })).toEqual({ applied: ['0002_b.sql', 'views'] });
    expect(await columnsOf('everything')).toEqual(['x', 'b']);
    // Their own branch of it, before a version is released.
    await writeViews(2, viewOf('everything', '*') + viewOf('twice', '2 * x AS y'));
    expect(await migrate(client, { directory })).toEqual({ applied: ['views'] });
    expect(await migrate(client, { directory })).toEqual({ applied: [] });
  });

  it('begins again with views of which one could not be made', async () => {
    await write('0001_a.sql', TABLE);
    await writeViews(1, viewOf('one', 'x'));
    await migrate(client, { directory });
    await writeViews(2, viewOf('one', 'x, 2 AS y'));
    await write('views/two.sql', viewOf('two', 'no_such_column'));
    await expect(migrate(client, { directory })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringMatching(/^A statement of views.two\.sql failed: .*no_such_column/) as string,
    });
    expect(await readSchemaState(client, { directory })).toMatchObject({ pending: ['views'] });
    // Nor may the version before take it for its own.
    await writeViews(1, viewOf('one', 'x'));
    await rm(join(directory, 'views/two.sql'));
    await expect(migrate(client, { directory })).rejects.toMatchObject({ code: 'MIGRATION_UNKNOWN' });
    await writeViews(2, viewOf('one', 'x'));
    await write('views/two.sql', viewOf('two', 'x'));
    expect(await migrate(client, { directory })).toEqual({ applied: ['views'] });
    expect(await readSchemaState(client, { directory })).toMatchObject({ pending: [] });
    expect(await tables()).toEqual(['a', 'one', 'two']);
  });

  it('refuses a store with views of a later version, of whatever earlier one it is', async () => {
    await write('0001_a.sql', TABLE);
    await writeViews(3, viewOf('one', 'x, 2 AS y'));
    await migrate(client, { directory });
    await writeViews(2, viewOf('one', 'x'));
    await expect(migrate(client, { directory })).rejects.toMatchObject({
      code: 'MIGRATION_UNKNOWN',
      message:
        'The store has views of version 3, and this version of Retrace knows only those up to 2; update Retrace',
    });
    expect(await columnsOf('one')).toEqual(['x', 'y']);
  });

  it('has a version of the views for each change of them', async () => {
    const { views } = await readSchemaFiles(MIGRATIONS_DIRECTORY);
    // Whoever changes a view or a table raises `migrations/views/version`, and has the new pair here.
    expect([views.version, views.checksum.slice(0, 16)]).toEqual([9, '35b58b349896a633']);
  });

  it('goes on with a store of the migrations that one replaces, once it is as far as they go', async () => {
    const earlier = join(directory, 'earlier');
    await write('earlier/0001_a.sql', TABLE);
    await migrate(client, { directory: earlier });
    await client.command('INSERT INTO a VALUES (7)');
    await write(
      '0001_tables.sql',
      `-- Replaces migrations up to 0002_b.sql.\n${TABLE.replace(')', ', b String)')}`,
    );
    await writeViews(1, viewOf('one', '*'));
    await expect(migrate(client, { directory })).rejects.toMatchObject({ code: 'MIGRATION_REPLACED' });

    await write('earlier/0002_b.sql', 'ALTER TABLE a ADD COLUMN IF NOT EXISTS b String; SELECT 1');
    await write('earlier/0003_view.sql', viewOf('one', 'x'));
    await migrate(client, { directory: earlier });
    expect(await readSchemaState(client, { directory })).toMatchObject({
      pending: ['0001_tables.sql', 'views'],
    });
    expect(await migrate(client, { directory })).toEqual({ applied: ['0001_tables.sql', 'views'] });
    expect(await client.queryRows('SELECT * FROM one')).toEqual([{ x: 7, b: '' }]);
    expect(await migrate(client, { directory })).toEqual({ applied: [] });
  });

  it.each([
    [
      'another statement',
      '1',
      '-- CREATE OR REPLACE VIEW b AS\nDROP TABLE a',
      /^A statement of views.all\.sql must be CREATE OR REPLACE VIEW/,
    ],
    [
      'no version',
      'next',
      'CREATE OR REPLACE VIEW b AS SELECT 1',
      /^views\/version is "next"; it must be a whole number from 1/,
    ],
  ])('refuses views with %s', async (_, version, sql, message) => {
    await write('0001_a.sql', TABLE);
    await write('views/version', version);
    await write('views/all.sql', sql);
    await expect(migrate(client, { directory })).rejects.toMatchObject({
      code: 'MIGRATION_INVALID',
      message: expect.stringMatching(message) as string,
    });
  });

  it('refuses a store that newer code has migrated', async () => {
    await write('0001_a.sql', 'CREATE OR REPLACE VIEW a AS SELECT 1');
    await write('0002_b.sql', 'CREATE OR REPLACE VIEW b AS SELECT 1');
    await migrate(client, { directory });
    await rm(join(directory, '0002_b.sql'));
    await expect(migrate(client, { directory })).rejects.toMatchObject({
      code: 'MIGRATION_UNKNOWN',
      message:
        'The store has migration 0002_b.sql, and this version of Retrace knows only 1 to 1; update Retrace',
    });
  });

  it('refuses a store with another migration under a number, and says how to make the store again', async () => {
    await write('0001_a.sql', 'CREATE OR REPLACE VIEW a AS SELECT 1');
    await write('0002_earlier.sql', 'CREATE OR REPLACE VIEW b AS SELECT 1');
    await write('0003_last.sql', 'CREATE OR REPLACE VIEW c AS SELECT 1');
    await migrate(client, { directory });
    await rm(join(directory, '0002_earlier.sql'));
    await rm(join(directory, '0003_last.sql'));
    await write(
      '0002_combined.sql',
      'CREATE OR REPLACE VIEW b AS SELECT 1; CREATE OR REPLACE VIEW c AS SELECT 1',
    );
    await expect(migrate(client, { directory })).rejects.toMatchObject({
      code: 'MIGRATION_REPLACED',
      retriable: false,
      message:
        'The store was made by an earlier version: it has migration 0002_earlier.sql where this one has 0002_combined.sql. ' +
        'While nothing runs, delete it (the folder store/ of the data directory; on a server its database); the next start fills it from the log',
    });
  });

  it.each([
    ['0002_gap.sql', 'SELECT 1', 'the next number is 0001'],
    ['first.sql', 'SELECT 1', 'the next number is 0001'],
    ['0001_empty.sql', '-- nothing yet\n', 'must have at least one'],
  ])('refuses the file %s', async (name, sql, rule) => {
    await write(name, sql);
    await expect(migrate(client, { directory })).rejects.toMatchObject({
      code: 'MIGRATION_INVALID',
      message: expect.stringContaining(rule) as string,
    });
  });

  it('can run twice at once', async () => {
    const results = await Promise.all([migrate(client), migrate(client)]);
    expect(results.flatMap(({ applied }) => applied)).toContain('0001_tables.sql');
    expect(await migrate(client)).toEqual({ applied: [] });
  });
});

describe('splitStatements', () => {
  it('splits at semicolons outside strings, names and comments', () => {
    const text = "SELECT ';' -- not; here\n; /* nor; here */ SELECT `a;b`, 'it''s; \\'so;';\n-- the end;\n";
    expect(splitStatements(text).map(({ sql }) => sql)).toEqual([
      "SELECT ';' -- not; here",
      "/* nor; here */ SELECT `a;b`, 'it''s; \\'so;'",
    ]);
  });
});
