import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStoreServer, type StoreServer } from '@retrace/store-server';
import { isAllowedFunction } from './user-sql-functions.js';
import { checkUserSql, limitRows, type UserSqlPolicy } from './user-sql.js';

const SECRET = 'content of a file that nobody may read';

describe('user SQL', () => {
  let directory: string;
  let secretPath: string;
  let server: StoreServer;
  let client: ClickHouseClient;
  let policy: UserSqlPolicy;
  /** Everything that reached the engine's parser. */
  let explained: string[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'retrace-user-sql-'));
    secretPath = join(directory, 'secret');
    await writeFile(secretPath, SECRET);
    const user = { name: 'retrace', password: 'secret', access: 'full' as const };
    server = await startStoreServer({ dataDirectory: join(directory, 'store'), port: 0, users: [user] });
    client = createClient({
      url: server.url,
      username: user.name,
      password: user.password,
      log: { level: ClickHouseLogLevel.OFF },
    });
    for (const table of ['runs', 'steps', 'secrets']) {
      await client.command({
        query: `CREATE TABLE ${table} (run_id String, step UInt64, reward Nullable(Float64), token_ids Array(Int32),
                  metrics Map(String, Float64), occurred_at DateTime64(6)) ENGINE = MergeTree ORDER BY run_id`,
      });
      await client.command({
        query: `INSERT INTO ${table} SELECT '${table}', number, number / 2, [1, 2], map('loss', 0.5), now64(6) FROM numbers(3)`,
      });
    }
    policy = {
      tables: ['runs', 'steps', 'default.steps'],
      explainAst: async (sql) => {
        explained.push(sql);
        return text((await client.exec({ query: `EXPLAIN AST ${sql}` })).stream);
      },
    };
  });

  afterAll(async () => {
    await client?.close();
    await server?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const check = (sql: string) => checkUserSql(sql, policy);

  const run = async (sql: string, maxRows = 100) => {
    const statement = limitRows(await check(sql), maxRows);
    return (await client.query({ query: statement, format: 'JSONCompactEachRow' })).json<unknown[]>();
  };

  describe('lets through', () => {
    it.each([
      ['SELECT 1', [[1]]],
      ['  select /* a comment */ 1 -- another\n ; ;', [[1]]],
      ['(SELECT 1) UNION ALL (SELECT 1)', [[1], [1]]],
      ['FROM runs SELECT count()', [[3]]],
      ['SELECT \'a;b\', $$c;d\'$$, "x;y" FROM (SELECT 1 AS "x;y")', [['a;b', "c;d'", 1]]],
      ["SELECT 'it''s', 'INTO OUTFILE', 'FORMAT'", [["it's", 'INTO OUTFILE', 'FORMAT']]],
      ['SELECT step FROM default.steps ORDER BY step DESC LIMIT 1', [[2]]],
      ['WITH best AS (SELECT max(reward) AS r FROM steps) SELECT r FROM best', [[1]]],
      ['WITH best (r) AS (SELECT max(reward) FROM steps) SELECT b.r FROM best AS b', [[1]]],
      ['WITH 5 AS five, a AS (SELECT five AS n), b AS (SELECT n FROM a) SELECT n FROM b', [[5]]],
      ['SELECT step FROM steps WHERE step IN (SELECT step FROM runs WHERE step > 1)', [[2]]],
      ['SELECT count() FROM steps AS s JOIN runs AS r ON s.step = r.step', [[3]]],
      [
        'SELECT sum(step) OVER (ORDER BY step ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM steps ORDER BY 1',
        [[0], [1], [3]],
      ],
      ['SELECT arrayMap(x -> x + 1, token_ids) FROM steps LIMIT 1', [[[2, 3]]]],
      ['SELECT arrayMap(toString, token_ids) FROM steps LIMIT 1', [[['1', '2']]]],
      ["SELECT metrics['loss'], mapKeys(metrics) FROM steps LIMIT 1", [[0.5, ['loss']]]],
      [
        'SELECT quantile(0.5)(step), sumIf(step, step > 1), uniqExactArray(token_ids), argMax(step, reward) FROM steps',
        [[1, 2, 2, 2]],
      ],
      ['SELECT sum(step) FILTER (WHERE step > 1) FROM steps', [[2]]],
      ['SELECT id FROM steps ARRAY JOIN token_ids AS id GROUP BY id ORDER BY id', [[1], [2]]],
      [
        'SELECT CASE WHEN step > 1 THEN 1 ELSE 0 END, step::String, CAST(step AS Int8) FROM steps WHERE step = 2',
        [[1, '2', 2]],
      ],
      [
        "SELECT toDate('2026-01-02') + INTERVAL 1 DAY, extract(YEAR FROM toDate('2026-01-02'))",
        [['2026-01-03', 2026]],
      ],
      ["SELECT JSONExtractInt('{\"a\": 4}', 'a'), lower('A') || 'b', match('abc', '^a')", [[4, 'ab', 1]]],
      [
        'SELECT * EXCEPT (token_ids, metrics, occurred_at) REPLACE (step + 1 AS step) FROM steps LIMIT 1',
        [['steps', 1, 0]],
      ],
      ['SELECT 1 INTERSECT SELECT 1', [[1]]],
      [
        "SELECT CAST('a', 'Enum8(\\'a\\' = 1)'), [1]::Array(UInt8), JSONExtract('{\"a\": [1]}', 'a', 'Array(UInt8)')",
        [['a', [1], [1]]],
      ],
      [
        "SELECT arrayReduce('sumIf', [1, 2], [1, 0]), arrayReduce('quantiles(0.5, 1)', [1, 2])",
        [[1, [1.5, 2]]],
      ],
      [
        'SELECT step, count() FROM steps GROUP BY step WITH TOTALS HAVING step < 1 ORDER BY step LIMIT 1 BY step',
        [[0, 1]],
      ],
    ])('%s', async (sql, expected) => {
      expect(await run(sql)).toEqual(expected);
    });

    it('as many rows as asked for, in the order of the statement', async () => {
      expect(await run('SELECT step FROM steps ORDER BY step DESC', 2)).toEqual([[2], [1]]);
      expect(
        await run('SELECT step FROM steps WHERE step = 0 UNION ALL SELECT step FROM runs WHERE step = 1', 1),
      ).toHaveLength(1);
    });

    it('all tables of a database, where the policy says so', async () => {
      const open = { ...policy, tables: ['*', 'default.*'] };
      await checkUserSql('SELECT * FROM secrets', open);
      await checkUserSql('SELECT * FROM default.secrets', open);
      await expect(checkUserSql('SELECT * FROM system.one', open)).rejects.toThrow(
        'The table "system.one" can not be read',
      );
    });

    it('values as parameters, where the policy says so', async () => {
      const withValue = {
        ...policy,
        allowParameters: true,
        explainAst: () => Promise.resolve('SelectWithUnionQuery (children 1)\n ExpressionList'),
      };
      await checkUserSql('SELECT {x:UInt8}', withValue);
      for (const sql of [
        'SELECT * FROM {x:Identifier}',
        'SELECT {x:`Identifier`}',
        'SELECT {x}',
        "SELECT {'a':1}",
      ]) {
        await expect(checkUserSql(sql, withValue), sql).rejects.toMatchObject({
          code: 'USER_SQL_NOT_ALLOWED',
        });
      }
    });
  });

  describe('refuses before the engine sees it', () => {
    it.each([
      'SELECT 1; SELECT 2',
      'SELECT 1; CREATE DATABASE evil',
      'SELECT 1;;SELECT 2',
      "SELECT ';' ; DROP TABLE runs",
      'SELECT 1 -- ;\n; DROP TABLE runs',
      'SELECT /* /* */ ; */ 1; DROP TABLE runs',
      'SELECT `a`` ;` ; DROP TABLE runs',
      "SELECT x'41' ; DROP TABLE runs",
      'SELECT $a$ $b$ $a$ ; DROP TABLE runs',
      'SELECT ‘a’ ; DROP TABLE runs',
      'SELECT 1 \\G SELECT 2',
      'INSERT INTO runs VALUES (1)',
      'DROP TABLE runs',
      'CREATE TABLE x (a Int8) ENGINE = Memory',
      'EXPLAIN SELECT 1',
      'DESCRIBE runs',
      'SHOW TABLES',
      'SET readonly = 0',
      'SYSTEM SHUTDOWN',
      "SELECT 1 INTO OUTFILE '/tmp/x'",
      "SELECT 1 into\n/**/outfile '/tmp/x' FORMAT CSV",
      'SELECT {x:UInt8}',
      'SELECT * FROM {t:Identifier}',
      'SELECT ?',
      'SELECT @@version',
      'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r',
      'SELECT `a\nFunction count` FROM runs',
      'SELECT `a\\nFunction count` FROM runs',
      'SELECT 1 AS `a\u2028b`',
      `SELECT '${'x'.repeat(70_000)}'`,
    ])('%s', async (sql) => {
      explained = [];
      await expect(check(sql)).rejects.toMatchObject({ code: 'USER_SQL_NOT_ALLOWED' });
      expect(explained).toEqual([]);
    });

    it.each([
      '',
      ' -- nothing',
      ';',
      "SELECT 'open",
      'SELECT "open',
      'SELECT /* open',
      'SELECT $a$ open',
      "SELECT 'a\\'",
      'SELECT 1)',
      '(SELECT 1',
      'SELECT \0',
    ])('what can not be read: %j', async (sql) => {
      explained = [];
      await expect(check(sql)).rejects.toMatchObject({ code: 'USER_SQL_SYNTAX' });
      expect(explained).toEqual([]);
    });
  });

  describe('refuses what the parser shows', () => {
    it.each([
      'SELECT * FROM secrets',
      'SELECT * FROM default.secrets',
      'SELECT * FROM `default`.`secrets`',
      'SELECT * FROM default.runs',
      'SELECT * FROM system.tables',
      'SELECT * FROM `system.tables`',
      'SELECT * FROM steps, secrets',
      'SELECT * FROM steps WHERE step IN secrets',
      'SELECT * FROM steps WHERE step NOT IN (system.one)',
      'SELECT in(1, system.one)',
      'SELECT (SELECT count() FROM secrets)',
      'SELECT 1 UNION ALL SELECT count() FROM secrets',
      'SELECT * FROM steps WHERE EXISTS (SELECT 1 FROM secrets)',
      'SELECT * FROM (EXPLAIN SELECT 1)',
      'SELECT * FROM numbers(3)',
      'SELECT * FROM view(SELECT 1)',
      "SELECT * FROM merge('default', '.*')",
      "SELECT * FROM remote('127.0.0.1', 'default', 'secrets')",
      "SELECT * FROM file('/etc/passwd', 'LineAsString')",
      "SELECT * FROM url('http://127.0.0.1/', 'TSV')",
      "SELECT * FROM s3('http://127.0.0.1/b/k', 'TSV')",
      "SELECT * FROM executable('cat', 'TSV', 'a String')",
      'SELECT * FROM (VALUES (1))',
      "SELECT dictGet('d', 'a', 1)",
      "SELECT joinGet('secrets', 'step', 1)",
      "SELECT getSetting('max_threads')",
      "SELECT hasColumnInTable('default', 'secrets', 'step')",
      'SELECT sleep(3)',
      'SELECT hostName()',
      "SELECT aiGenerate('x')",
      "SELECT `file`('/etc/passwd')",
      "SELECT FILE('/etc/passwd')",
      'SELECT nosuchfunction(1)',
      'SELECT 1 FORMAT JSON',
      'SELECT 1 SETTINGS max_execution_time = 0',
      'SELECT * FROM (SELECT 1 SETTINGS max_threads = 8)',
      'SELECT 1 PARALLEL WITH SELECT 2',
    ])('%s', async (sql) => {
      await expect(check(sql)).rejects.toMatchObject({ code: 'USER_SQL_NOT_ALLOWED' });
    });

    it('what the engine’s parser refuses is the engine’s error', async () => {
      await expect(check('SELECT FROM WHERE')).rejects.toMatchObject({ type: 'SYNTAX_ERROR' });
    });
  });

  describe('refuses what the engine can not stop, can not count, or trusts', () => {
    it.each([
      // Took 1.9 GB under a limit of 1 GiB.
      "SELECT printf('%1000000000d', 1)",
      "SELECT prettyPrintJSON(concat(repeat('[', 30000), repeat(']', 30000)))",
      // Ran on after their time.
      'SELECT mannWhitneyUTest(step, step % 2) FROM steps',
      'SELECT mannWhitneyUTestIf(step, step % 2, 1) FROM steps',
      'SELECT rankCorr(step, step) FROM steps',
      'SELECT corrMatrix(step, step) FROM steps',
      "SELECT arrayReduce('mannWhitneyUTest', [1, 2], [0, 1])",
      "SELECT arrayReduce('corrMatrixArray', [[1]], [[1]])",
      "SELECT arrayReduceInRanges('rankCorr', [(1, 5)], [1], [2])",
      'SELECT editDistance(run_id, run_id) FROM steps',
      'SELECT arraySimilarity([1], [2], [1.], [1.])',
      // States of aggregate functions: false bytes crash the engine.
      "SELECT CAST(unhex('0105') AS AggregateFunction(groupBitmap, UInt32))",
      "SELECT unhex('0105')::AggregateFunction(groupBitmap, UInt32)",
      "SELECT CAST(unhex('0105'), 'AggregateFunction(groupBitmap, UInt32)')",
      "SELECT CAST([unhex('0105')], 'Array(`AggregateFunction`(groupBitmap, UInt32))')",
      "SELECT CAST(unhex('0105'), '`Aggregate\\\\x46unction`(groupBitmap, UInt32)')",
      "SELECT CAST(unhex('0105'), concat('Aggregate', 'Function(groupBitmap, UInt32)'))",
      "WITH 'AggregateFunction(groupBitmap, UInt32)' AS t SELECT CAST(unhex('0105'), t)",
      "SELECT _CAST(unhex('0105'), 'AggregateFunction(groupBitmap, UInt32)')",
      "SELECT accurateCastOrNull(unhex('0105'), 'AggregateFunction(groupBitmap, UInt32)')",
      "SELECT reinterpret(unhex('0105'), 'AggregateFunction(groupBitmap, UInt32)')",
      "SELECT JSONExtract('{}', 'a', 'Tuple(b AggregateFunction(groupBitmap, UInt32))')",
      "SELECT arrayMap(CAST, ['a'], ['AggregateFunction(groupBitmap, UInt32)'])",
      'SELECT groupBitmapState(step) FROM steps',
      'SELECT uniqStateIf(step, 1) FROM steps',
      "SELECT arrayReduce('groupBitmapState', [1])",
      "SELECT arrayReduce(concat('groupBitmap', 'State'), [1])",
      "SELECT initializeAggregation('groupBitmapState', 1)",
      'SELECT bitmapBuild([1])',
    ])('%s', async (sql) => {
      await expect(check(sql)).rejects.toMatchObject({ code: 'USER_SQL_NOT_ALLOWED' });
    });

    it('a parameter of such a type', async () => {
      const open = { ...policy, allowParameters: true };
      await expect(
        checkUserSql('SELECT {p:Array(AggregateFunction(groupBitmap, UInt32))}', open),
      ).rejects.toThrow('The type AggregateFunction is not allowed');
    });
  });

  it('refuses deep nesting before the engine’s parser, whose time would grow without a limit', async () => {
    explained = [];
    for (const open of ['f(', '[', '(SELECT ', '-(']) {
      await expect(check(`SELECT ${open.repeat(5_000)}1`)).rejects.toThrow(
        'more than 200 brackets inside each other',
      );
    }
    expect(explained).toEqual([]);
    expect(await run(`SELECT ${'abs('.repeat(100)}1${')'.repeat(100)}`)).toEqual([[1]]);
  });

  describe('a common table expression', () => {
    // Where its name does not stand for it, the name is a table that may exist.
    it.each([
      'WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets',
      'SELECT * FROM (WITH secrets AS (SELECT 1) SELECT * FROM secrets), secrets',
      'SELECT * FROM secrets UNION ALL WITH secrets AS (SELECT 1) SELECT * FROM secrets',
      'WITH a AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM a',
      'WITH `default.secrets` AS (SELECT 1) SELECT * FROM default.secrets',
      'WITH 1 AS secrets SELECT * FROM secrets',
      'WITH (SELECT 1) AS secrets SELECT * FROM secrets',
      'WITH secrets AS (SELECT 1) SELECT * FROM (WITH secrets AS (SELECT 2) SELECT * FROM secrets)',
      'SELECT 1 AS secrets, (SELECT count() FROM secrets)',
    ])('does not hide a table: %s', async (sql) => {
      await expect(check(sql)).rejects.toMatchObject({ code: 'USER_SQL_NOT_ALLOWED' });
    });
  });

  describe('finds a forbidden function wherever it stands', () => {
    const file = "file('x')";
    it.each([
      `SELECT ${file}`,
      `SELECT [1, ${file}], (2, ${file}), map('a', ${file})`,
      `SELECT ${file}::String`,
      `SELECT CASE ${file} WHEN 'a' THEN 1 END`,
      `SELECT x -> ${file}`,
      `SELECT arrayMap(x -> ${file}, [1])`,
      `SELECT quantile(${file})(step) FROM steps`,
      `SELECT sum(step) FILTER (WHERE ${file} = 'a') FROM steps`,
      `SELECT sum(step) OVER (ORDER BY step ROWS BETWEEN ${file} PRECEDING AND CURRENT ROW) FROM steps`,
      `SELECT sum(step) OVER w FROM steps WINDOW w AS (PARTITION BY ${file})`,
      `WITH ${file} AS f SELECT f`,
      `WITH f AS (SELECT ${file}) SELECT * FROM f`,
      `SELECT DISTINCT ON (${file}) step FROM steps`,
      `SELECT step FROM steps PREWHERE ${file} = 'a'`,
      `SELECT step FROM steps WHERE ${file} = 'a'`,
      `SELECT step FROM steps WHERE step IN (1, ${file})`,
      `SELECT step FROM steps ARRAY JOIN [${file}] AS z`,
      `SELECT step FROM steps GROUP BY GROUPING SETS ((${file}), (step))`,
      `SELECT step FROM steps GROUP BY step HAVING ${file} = 'a'`,
      `SELECT step FROM steps QUALIFY ${file} = 'a'`,
      `SELECT step FROM steps ORDER BY ${file} COLLATE 'en'`,
      `SELECT step FROM steps ORDER BY step WITH FILL FROM ${file} TO 3 STEP 1`,
      `SELECT step FROM steps ORDER BY step WITH FILL STALENESS ${file}`,
      `SELECT step FROM steps ORDER BY step WITH FILL INTERPOLATE (reward AS ${file})`,
      `SELECT step FROM steps LIMIT ${file}`,
      `SELECT step FROM steps LIMIT 1 OFFSET ${file}`,
      `SELECT step FROM steps LIMIT 1 BY ${file}`,
      `SELECT step FROM steps JOIN runs ON ${file} = 'a'`,
      `SELECT step FROM steps JOIN runs USING (step, ${file})`,
      `SELECT step FROM steps, (SELECT ${file}) AS z`,
      `SELECT 1 EXCEPT SELECT ${file}`,
      `SELECT * REPLACE (${file} AS step) FROM steps`,
      `SELECT COLUMNS('step') REPLACE (${file} AS step) FROM steps`,
      `SELECT * APPLY(file) FROM steps`,
      `SELECT * APPLY(x -> ${file}) FROM steps`,
      `SELECT COLUMNS('step') APPLY(file) FROM steps`,
      `SELECT INTERVAL ${file} DAY, TRIM(BOTH ${file} FROM 'a'), EXTRACT(YEAR FROM ${file})`,
      `SELECT EXISTS (SELECT ${file}), 1 = ANY (SELECT ${file})`,
    ])('%s', async (sql) => {
      await expect(check(sql)).rejects.toMatchObject({ code: 'USER_SQL_NOT_ALLOWED' });
    });

    it('also as a bare name in a lambda’s place, for every function of the engine that takes a lambda', async () => {
      await expect(
        client.query({ query: `SELECT arrayMap(file, ['${secretPath}'])` }).then((result) => result.text()),
      ).resolves.toContain(SECRET);
      const result = await client.query({
        query: 'SELECT name FROM system.functions WHERE higher_order',
        format: 'JSONEachRow',
      });
      const names = (await result.json<{ name: string }>()).map(({ name }) => name).filter(isAllowedFunction);
      expect(names.length).toBeGreaterThan(30);
      for (const name of names) {
        for (const sql of [
          `SELECT ${name}(file, ['${secretPath}'])`,
          `SELECT ${name}(\`file\`, map('a', 'b'), 1)`,
        ]) {
          await expect(check(sql), sql).rejects.toMatchObject({ code: 'USER_SQL_NOT_ALLOWED' });
        }
      }
    });
  });

  describe('explains a refusal', () => {
    it.each([
      ['SELECT * FROM stpes', 'Unknown table "stpes"; did you mean "steps"?'],
      ['SELECT * FROM default.runs', 'Unknown table "default.runs"; did you mean "runs"?'],
      [
        'SELECT * FROM system.tables',
        'The table "system.tables" can not be read; readable tables: runs, steps, default.steps',
      ],
      ['SELECT coun() FROM steps', 'The function "coun" is not allowed; did you mean "count"?'],
      ["SELECT file('x')", 'The function "file" is not allowed'],
      ['SELECT hostName()', 'The function "hostName" is not allowed'],
      ['SELECT * FROM numbers(3)', 'The table function "numbers" is not allowed; read one of the tables'],
      ['selec 1', 'Syntax error near "selec"; did you mean "SELECT"?'],
      ['42', 'Syntax error near "42"; a query starts with SELECT or WITH'],
      ['', 'Syntax error: the query is empty'],
      ['drop table runs', 'Only SELECT is allowed, not DROP'],
      ['SELECT 1; SELECT 2', 'Only one statement is allowed: remove the ";" and what follows it'],
      ["SELECT 'open", "Syntax error: the quote ' at character 8 is not closed"],
      ['SELECT 1)', 'Syntax error: the bracket ")" at character 9 has no opening bracket'],
      [
        'WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a',
        'Two WITH expressions are named "a"; rename one of them',
      ],
    ])('%s', async (sql, message) => {
      await expect(check(sql)).rejects.toMatchObject({ message });
    });
  });

  it('trusts no answer to EXPLAIN AST that it does not understand', async () => {
    for (const ast of [
      '',
      'Surprise',
      'SelectWithUnionQuery (children 1)\n   ExpressionList',
      'SelectWithUnionQuery (children 1)\n ExpressionList\nSelectWithUnionQuery',
      '(children 1)',
      'SelectQuery (children 1)',
    ]) {
      await expect(
        checkUserSql('SELECT 1', { ...policy, explainAst: () => Promise.resolve(ast) }),
        ast,
      ).rejects.toMatchObject({ code: 'USER_SQL_NOT_ALLOWED' });
    }
  });
});
