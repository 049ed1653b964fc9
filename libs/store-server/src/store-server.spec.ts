import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { tableFromIPC, tableFromJSON, tableToIPC } from 'apache-arrow';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStoreBench, FULL_USER, READONLY_USER, StoreProcess } from './testing/store-process.js';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** The client also logs the errors that it throws. */
const quiet = { level: ClickHouseLogLevel.OFF };

/** Bytes of a process that are no file's page; 0 where the system doesn't tell. */
function anonymousBytes(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Anonymous: +(\d+) kB$/m.exec(rollup)![1]) * 1024;
}

describe('store server', () => {
  let bench: Awaited<ReturnType<typeof createStoreBench>>;
  let store: StoreProcess;
  let client: ClickHouseClient;
  let reader: ClickHouseClient;

  beforeAll(async () => {
    bench = await createStoreBench();
    store = await StoreProcess.start(bench.module, bench.directory);
    client = createClient({ url: store.url, ...FULL_USER, log: quiet });
    reader = createClient({ url: store.url, ...READONLY_USER, log: quiet });
  });

  afterAll(async () => {
    await client?.close();
    await reader?.close();
    await store?.kill();
    await bench?.remove();
  });

  beforeEach(async () => {
    await client.command({ query: 'DROP TABLE IF EXISTS items' });
    await client.command({
      query:
        'CREATE TABLE items (id UInt64, name String, scores Array(Float32)) ENGINE = MergeTree ORDER BY id',
    });
  });

  /** A bare request, for what the client hides. */
  async function send(options: {
    path?: string;
    method?: string;
    headers?: Record<string, string>;
    body?: string | Buffer;
    user?: { username: string; password: string } | null;
  }): Promise<Answer> {
    const user = options.user === undefined ? FULL_USER : options.user;
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        `${store.url}${options.path ?? '/'}`,
        {
          method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
          headers: options.headers,
          ...(user === null ? {} : { auth: `${user.username}:${user.password}` }),
        },
        (response) => {
          buffer(response).then((body) => {
            resolve({ status: response.statusCode!, headers: response.headers, body, text: body.toString() });
          }, reject);
        },
      );
      request.on('error', reject);
      request.end(options.body);
    });
  }

  const rowsOf = async <T>(query: string, parameters?: Record<string, unknown>): Promise<T[]> =>
    (await client.query({ query, format: 'JSONEachRow', query_params: parameters })).json<T>();

  const numItems = async () => Number((await rowsOf<{ n: string }>('SELECT count() AS n FROM items'))[0].n);

  const numRunning = async (part: string) => {
    const query = `SELECT count() AS n FROM system.processes
                   WHERE position(query, {part:String}) > 0 AND position(query, 'system.processes') = 0`;
    return Number((await rowsOf<{ n: number }>(query, { part }))[0].n);
  };

  const noneRunning = async (part: string) => {
    for (let i = 0; (await numRunning(part)) > 0; i++) {
      expect(i, 'still running').toBeLessThan(100);
      await sleep(50);
    }
  };

  describe('health', () => {
    it('answers a ping without a password, and the client’s own pings', async () => {
      const answer = await send({ path: '/ping', user: null });
      expect([answer.status, answer.text]).toEqual([200, 'Ok.\n']);
      expect((await send({ path: '/replicas_status', user: null })).text).toBe('Ok.\n');
      expect((await send({ path: '/', user: null })).text).toBe('Ok.\n');
      expect(await client.ping()).toEqual({ success: true });
      expect(await client.ping({ select: true })).toEqual({ success: true });
    });

    it('answers 404 for other paths and 405 for other methods', async () => {
      expect((await send({ path: '/play' })).status).toBe(404);
      expect((await send({ method: 'DELETE' })).status).toBe(405);
    });
  });

  describe('authentication', () => {
    const select = '/?query=SELECT%201';

    it('accepts basic credentials, headers and URL parameters', async () => {
      const { username, password } = FULL_USER;
      expect((await send({ path: select })).text).toBe('1\n');
      const headers = {
        'X-ClickHouse-User': READONLY_USER.username,
        'X-ClickHouse-Key': READONLY_USER.password,
      };
      expect((await send({ path: select, user: null, headers })).text).toBe('1\n');
      const inUrl = new URLSearchParams({ user: username, password });
      expect((await send({ path: `${select}&${inUrl}`, user: null })).text).toBe('1\n');
    });

    it.each([
      ['a wrong password', { username: 'retrace', password: 'wrong' }],
      ['an unknown user', { username: 'nobody', password: FULL_USER.password }],
      ['no credentials', null],
    ])('refuses %s with code 516', async (_, user) => {
      const answer = await send({ path: select, user });
      expect(answer.status).toBe(403);
      expect(answer.headers['x-clickhouse-exception-code']).toBe('516');
      expect(answer.text).toMatch(
        /^Code: 516\. DB::Exception: .*Authentication failed.* \(AUTHENTICATION_FAILED\)/,
      );
    });

    it('failure is an error of the client', async () => {
      const stranger = createClient({ url: store.url, username: 'retrace', password: 'wrong', log: quiet });
      await expect(stranger.query({ query: 'SELECT 1' })).rejects.toMatchObject({
        code: '516',
        type: 'AUTHENTICATION_FAILED',
      });
      await stranger.close();
    });
  });

  describe('statements', () => {
    it('are read from the URL, from the body, or from both', async () => {
      expect((await send({ path: '/?query=SELECT%201%2B1' })).text).toBe('2\n');
      expect((await send({ body: 'SELECT 1+2 -- three' })).text).toBe('3\n');
      expect((await send({ path: '/?query=SELECT%201', body: '+3' })).text).toBe('4\n');
      expect((await send({ body: 'SELECT 5;\n ' })).text).toBe('5\n');
    });

    it('answer in the format that they name, else in that of the request, else tab-separated', async () => {
      const json = await send({
        path: '/?default_format=CSV',
        body: "SELECT 1 AS a, 'b' AS b FORMAT JSONEachRow",
      });
      expect(json.text).toBe('{"a":1,"b":"b"}\n');
      expect(json.headers['x-clickhouse-format']).toBe('JSONEachRow');
      expect((await send({ path: '/?default_format=CSV', body: "SELECT 1 AS a, 'b' AS b" })).text).toBe(
        '1,"b"\n',
      );
      expect(
        (await send({ body: "SELECT 1 AS a, 'b' AS b", headers: { 'X-ClickHouse-Format': 'CSV' } })).text,
      ).toBe('1,"b"\n');
      expect((await send({ body: "SELECT 1 AS a, 'b' AS b" })).text).toBe('1\tb\n');
      expect((await send({ body: 'SELECT 1 AS a FORMAT JSONEachRow SETTINGS max_threads = 1' })).text).toBe(
        '{"a":1}\n',
      );
    });

    it('return their query id and a summary', async () => {
      const answer = await send({ path: '/?query_id=mine', body: 'SELECT number FROM numbers(1000)' });
      expect(answer.headers['x-clickhouse-query-id']).toBe('mine');
      expect(JSON.parse(String(answer.headers['x-clickhouse-summary']))).toMatchObject({
        result_rows: '1000',
        result_bytes: String(answer.body.length),
      });
    });

    it('receive parameters of every type', async () => {
      const when = new Date('2026-01-02T03:04:05.678Z');
      const [row] = await rowsOf<Record<string, unknown>>(
        `SELECT {text:String} AS text, {number:Int64} AS number, {list:Array(String)} AS list, {map:Map(String, UInt8)} AS map,
                {nothing:Nullable(String)} AS nothing, {when:DateTime64(3, 'UTC')} AS moment, {column:Identifier} AS col
         FROM (SELECT 7 AS chosen)`,
        {
          text: "tab\t quote' back\\slash\nünï",
          number: -5,
          list: ["a'b", 'c\\'],
          map: { k: 1 },
          nothing: null,
          when,
          column: 'chosen',
        },
      );
      expect(row).toEqual({
        text: "tab\t quote' back\\slash\nünï",
        number: -5,
        list: ["a'b", 'c\\'],
        map: { k: 1 },
        nothing: null,
        moment: '2026-01-02 03:04:05.678',
        col: 7,
      });
    });

    it('receive parameters from form data', async () => {
      const many = Array.from({ length: 5000 }, (_, i) => `value ${i}`);
      const result = await client.query({
        query: 'SELECT length({values:Array(String)}) AS n',
        query_params: { values: many },
        format: 'JSONEachRow',
        use_multipart_params: true,
      });
      expect(await result.json()).toEqual([{ n: 5000 }]);
    });

    it('run in the database of the request', async () => {
      await client.command({ query: 'CREATE DATABASE IF NOT EXISTS other' });
      const other = createClient({ url: store.url, ...FULL_USER, database: 'other' });
      expect(
        await (await other.query({ query: 'SELECT currentDatabase() AS d', format: 'JSONEachRow' })).json(),
      ).toEqual([{ d: 'other' }]);
      await other.close();
      expect(await rowsOf('SELECT currentDatabase() AS d')).toEqual([{ d: 'default' }]);
    });

    it('have settings and parameters that do not affect the next statement', async () => {
      const setting = "SELECT getSetting('max_block_size') AS size";
      const [before] = await rowsOf(setting);
      const query = { query: setting, format: 'JSONEachRow' as const };
      const inside = await client.query({ ...query, clickhouse_settings: { max_block_size: '7' } });
      expect(await inside.json()).toEqual([{ size: 7 }]);
      await send({ path: '/?param_left=1&readonly=1', body: 'SELECT {left:UInt8}' });
      for (let i = 0; i < 10; i++) expect(await rowsOf(setting)).toEqual([before]);
      expect((await send({ body: 'SELECT {left:UInt8}' })).headers['x-clickhouse-exception-code']).toBe(
        '456',
      );
      await client.insert({
        table: 'items',
        values: [{ id: 1 }],
        format: 'JSONEachRow',
        clickhouse_settings: { insert_deduplication_token: 'once' },
      });
      await client.insert({ table: 'items', values: [{ id: 2 }], format: 'JSONEachRow' });
      await client.insert({ table: 'items', values: [{ id: 3 }], format: 'JSONEachRow' });
      expect(await numItems()).toBe(3);
    });

    it('write only over POST', async () => {
      const answer = await send({ path: `/?query=${encodeURIComponent('DROP TABLE items')}` });
      expect(answer.headers['x-clickhouse-exception-code']).toBe('164');
      expect(await numItems()).toBe(0);
    });

    it('that are not queries succeed too', async () => {
      expect(await (await client.query({ query: 'SHOW TABLES', format: 'JSONEachRow' })).json()).toEqual([
        { name: 'items' },
      ]);
      expect(
        await (await client.query({ query: 'EXISTS TABLE items', format: 'JSONEachRow' })).json(),
      ).toEqual([{ result: 1 }]);
      const columns = await (
        await client.query({ query: 'DESCRIBE TABLE items', format: 'JSONEachRow' })
      ).json<{ name: string }>();
      expect(columns.map(({ name }) => name)).toEqual(['id', 'name', 'scores']);
      expect((await send({ body: 'EXPLAIN AST SELECT 1' })).text).toMatch(
        /^SelectWithUnionQuery \(children 1\)\n/,
      );
      expect(
        await text(
          (await client.exec({ query: 'INSERT INTO items (id) SELECT number FROM numbers(5)' })).stream,
        ),
      ).toBe('');
      expect(await numItems()).toBe(5);
    });
  });

  describe('inserts', () => {
    it.each([
      ['JSONEachRow', '{"id":1,"name":"a","scores":[0.5]}\n{"id":2,"name":"b\\u0000c"}\n'],
      ['JSONCompactEachRow', '[1,"a",[0.5]]\n[2,"b\\u0000c",[]]\n'],
      ['TabSeparated', '1\ta\t[0.5]\n2\tb\\0c\t[]\n'],
      ['CSVWithNames', '"name","id","scores"\n"a",1,"[0.5]"\n"b\0c",2,"[]"\n'],
    ])('take %s', async (format, body) => {
      const query = encodeURIComponent(`INSERT INTO items FORMAT ${format}`);
      const answer = await send({ path: `/?query=${query}`, body });
      expect([answer.status, answer.text]).toEqual([200, '']);
      expect(JSON.parse(String(answer.headers['x-clickhouse-summary']))).toMatchObject({ written_rows: '2' });
      expect(await rowsOf('SELECT * FROM items ORDER BY id')).toEqual([
        { id: 1, name: 'a', scores: [0.5] },
        { id: 2, name: 'b\0c', scores: [] },
      ]);
    });

    it.each([
      'Native',
      'RowBinary',
      'RowBinaryWithNamesAndTypes',
      'Parquet',
      'ArrowStream',
      'Arrow',
      'MsgPack',
      'Avro',
    ])('bring back what was selected as %s', async (format) => {
      const select =
        "SELECT number AS id, char(number) || 'ü' AS name, [number / 2, nan]::Array(Float32) AS scores FROM numbers(500)";
      const selected = await send({ body: `${select} FORMAT ${format}` });
      await send({
        path: `/?query=${encodeURIComponent(`INSERT INTO items FORMAT ${format}`)}`,
        body: selected.body,
      });
      const [same] = await rowsOf(
        `SELECT count() AS n, sum(cityHash64(*)) = (SELECT sum(cityHash64(*)) FROM (${select})) AS same FROM items`,
      );
      expect(same).toEqual({ n: 500, same: 1 });
    });

    it('accept a stream of rows from the client', async () => {
      const values = Readable.from(
        (function* () {
          for (let id = 0; id < 20_000; id++) yield { id, name: `item ${id}`, scores: [id, 1] };
        })(),
      );
      const { summary } = await client.insert({ table: 'items', values, format: 'JSONEachRow' });
      expect(summary).toMatchObject({ written_rows: '20000' });
      expect(await numItems()).toBe(20_000);
    });

    it('accept Arrow from the client as a binary stream', async () => {
      const table = tableFromJSON(Array.from({ length: 1000 }, (_, id) => ({ id, name: `item ${id}` })));
      await client.exec({
        query: 'INSERT INTO items (id, name) FORMAT ArrowStream',
        values: Readable.from([Buffer.from(tableToIPC(table, 'stream'))], { objectMode: false }),
      });
      expect(await numItems()).toBe(1000);
    });

    it('accept their data behind the statement', async () => {
      await send({ body: "INSERT INTO items (id, name) VALUES (1, 'a'), (1 + 1, concat('b', 'c'));" });
      await send({ body: 'INSERT INTO items (id, name) FORMAT TabSeparated\n3\tc\n4\td' });
      await send({ path: '/?query=INSERT%20INTO%20items%20(id)%20VALUES', body: '(5)' });
      await send({ body: 'insert into items (id) settings max_threads = 1 format JSONEachRow {"id": 6}' });
      expect(await rowsOf('SELECT id, name FROM items ORDER BY id')).toEqual([
        { id: 1, name: 'a' },
        { id: 2, name: 'bc' },
        { id: 3, name: 'c' },
        { id: 4, name: 'd' },
        { id: 5, name: '' },
        { id: 6, name: '' },
      ]);
    });

    it('become one part each, durable before they are acknowledged', async () => {
      const body = (
        await send({
          body: 'SELECT number AS id, randomPrintableASCII(400) AS name FROM numbers(40000) FORMAT ArrowStream',
        })
      ).body;
      await send({
        path: `/?query=${encodeURIComponent('INSERT INTO items (id, name) FORMAT ArrowStream')}`,
        body,
      });
      expect(await rowsOf("SELECT rows FROM system.parts WHERE table = 'items' AND active")).toEqual([
        { rows: 40000 },
      ]);
      const settings = await rowsOf(
        "SELECT name, value FROM system.merge_tree_settings WHERE name LIKE 'fsync%' OR name = 'max_cleanup_delay_period' ORDER BY name",
      );
      expect(settings).toEqual([
        { name: 'fsync_after_insert', value: '1' },
        { name: 'fsync_part_directory', value: '1' },
        { name: 'max_cleanup_delay_period', value: '30' },
      ]);
    });

    it.each(['zstd', 'lz4', 'xz'])('take data compressed as %s, which the engine undoes', async (coding) => {
      const file = join(bench.directory, `packed.${coding}`);
      await client.command({
        query: `INSERT INTO FUNCTION file('${file}', 'JSONEachRow', 'auto', '${coding}') SELECT number AS id FROM numbers(1000)`,
      });
      const path = `/?query=${encodeURIComponent('INSERT INTO items FORMAT JSONEachRow')}`;
      const answer = await send({ path, body: readFileSync(file), headers: { 'Content-Encoding': coding } });
      expect([answer.status, answer.text]).toEqual([200, '']);
      expect(await numItems()).toBe(1000);
    });

    it('of nothing write nothing', async () => {
      await client.insert({ table: 'items', values: [], format: 'JSONEachRow' });
      const answer = await send({
        path: `/?query=${encodeURIComponent('INSERT INTO items FORMAT ArrowStream')}`,
        body: '',
      });
      expect(answer.status).toBe(200);
      expect(await numItems()).toBe(0);
    });

    it('fail as a whole: no row of a torn or malformed body is kept', async () => {
      const malformed = await send({
        path: `/?query=${encodeURIComponent('INSERT INTO items FORMAT JSONEachRow')}`,
        body: '{"id":1}\n{"id":"x"}',
      });
      expect(malformed.status).toBe(400);
      expect(malformed.text).toMatch(/Cannot parse input.*at row 2/s);
      expect(malformed.text).not.toMatch(/exchange|body-/);
      const torn = connect(Number(new URL(store.url).port), '127.0.0.1');
      const credentials = Buffer.from(`${FULL_USER.username}:${FULL_USER.password}`).toString('base64');
      torn.write(
        `POST /?query=INSERT%20INTO%20items%20FORMAT%20JSONEachRow HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${credentials}\r\n` +
          'Content-Length: 1000\r\n\r\n{"id":1}\n{"id":2}\n',
      );
      await sleep(50);
      torn.destroy();
      await sleep(100);
      expect(await numItems()).toBe(0);
    });

    it('cannot name a file of this machine', async () => {
      const outfile = await send({ body: "SELECT 1 INTO OUTFILE '/tmp/x'" });
      expect(outfile.text).toMatch(/INTO_OUTFILE_NOT_ALLOWED/);
      const infile = await send({ body: "INSERT INTO items FROM INFILE '/etc/passwd' FORMAT TabSeparated" });
      expect(infile.text).toMatch(/FROM INFILE is not allowed/);
    });
  });

  describe('results', () => {
    it('stream to a client that reads them row by row', async () => {
      const result = await client.query({
        query: 'SELECT number FROM numbers(500000)',
        format: 'JSONEachRow',
      });
      let sum = 0;
      for await (const rows of result.stream())
        for (const row of rows) sum += Number(row.json<{ number: string }>().number);
      // 0 + 1 + … + 499,999
      expect(sum).toBe((499_999 * 500_000) / 2);
    });

    it('are one document, however many blocks they have', async () => {
      const query = 'SELECT number AS n FROM numbers(200000)';
      const json = await (await client.query({ query, format: 'JSON' })).json<{ n: string }>();
      expect([json.data.length, json.rows]).toEqual([200_000, 200_000]);
      const { stream } = await client.exec({ query: `${query} FORMAT ArrowStream` });
      const table = tableFromIPC(await buffer(stream));
      expect(table.numRows).toBe(200_000);
      const names = await send({ body: `${query} FORMAT CSVWithNames` });
      expect(names.text.match(/"n"/g)).toHaveLength(1);
    });

    it('wait for a slow reader, hold little unread data, and end when it disconnects', async () => {
      const query = 'SELECT number, toString(number) FROM numbers(100000000)';
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const auth = `${FULL_USER.username}:${FULL_USER.password}`;
        httpRequest(`${store.url}/?query=${encodeURIComponent(query)}`, { auth }, resolve)
          .on('error', reject)
          .end();
      });
      response.pause();
      await sleep(300);
      expect(await numRunning('numbers(100000000)')).toBe(1);
      const before = anonymousBytes(store.pid);
      await sleep(500);
      expect(anonymousBytes(store.pid)).toBeLessThan(before + 20e6);
      response.destroy();
      await noneRunning('numbers(100000000)');
    });

    it('are compressed as the client asks', async () => {
      const plain = await send({ body: 'SELECT number FROM numbers(100000)' });
      const path = '/?enable_http_compression=1';
      const body = 'SELECT number FROM numbers(100000)';
      const gzip = await send({ path, body, headers: { 'Accept-Encoding': 'br;q=0, gzip' } });
      expect(gzip.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
      expect(
        (await send({ path, body, headers: { 'Accept-Encoding': 'zstd' } })).body.equals(plain.body),
      ).toBe(true);
      expect((await send({ body, headers: { 'Accept-Encoding': 'gzip' } })).body.equals(plain.body)).toBe(
        true,
      );
    });

    it('and requests are compressed with the client', async () => {
      const compressing = createClient({
        url: store.url,
        ...FULL_USER,
        compression: { request: true, response: true },
        log: quiet,
      });
      const values = Array.from({ length: 5000 }, (_, id) => ({ id, name: 'same '.repeat(20) }));
      await compressing.insert({ table: 'items', values, format: 'JSONEachRow' });
      const result = await compressing.query({ query: 'SELECT name FROM items', format: 'JSONEachRow' });
      expect(await result.json()).toHaveLength(5000);
      await expect(compressing.query({ query: 'SELECT * FROM nowhere' })).rejects.toMatchObject({
        code: '60',
      });
      await compressing.close();
      for (const [encoding, data] of [
        ['br', brotliCompressSync('SELECT 1')],
        ['deflate', deflateSync('SELECT 1')],
        ['gzip', gzipSync('SELECT 1')],
      ] as const) {
        expect((await send({ body: data, headers: { 'Content-Encoding': encoding } })).text).toBe('1\n');
      }
    });
  });

  describe('errors', () => {
    it.each([
      ['SELECT * FROM nowhere', 404, '60'],
      ['SELECT missing FROM items', 404, '47'],
      ['SELECT nosuchfunction(1)', 404, '46'],
      ['SELECT 1 FORMAT NoSuchFormat', 404, '73'],
      ['SELEC 1', 400, '62'],
      ['SELECT (1', 400, '62'],
      ["SELECT 'open", 400, '62'],
      ['', 400, '62'],
      ['-- nothing', 400, '62'],
      ['SELECT 1; SELECT 2', 400, '62'],
      ['SELECT 1; DROP TABLE items', 400, '62'],
      ["SELECT toDate('x')", 400, '38'],
      ['SELECT throwIf(1)', 500, '395'],
      [
        'SELECT sum(cityHash64(number)) FROM numbers(10000000000) SETTINGS max_execution_time = 0.2',
        408,
        '159',
      ],
    ])('%s is %i with code %s', async (body, status, code) => {
      const answer = await send({ body });
      expect([answer.status, answer.headers['x-clickhouse-exception-code']]).toEqual([status, code]);
      expect(answer.text).toMatch(
        new RegExp(`^Code: ${code}\\. DB::Exception: .*\\([A-Z_]+\\) \\(version [\\d.]+\\)\\n$`, 's'),
      );
      expect(answer.text).not.toMatch(/OUTFILE.*result-/s);
    });

    it('name the invalid part of the request', async () => {
      for (const [path, code] of [
        ['/?nosuchsetting=1', '115'],
        ['/?database=nowhere', '81'],
        ['/?default_format=a%20b', '36'],
        ['/?role=r', '1'],
        ['/?max_threads%3D1%3B=1', '36'],
        ['/?default_format=Native&client_protocol_version=54460', '1'],
      ]) {
        expect((await send({ path, body: 'SELECT 1' })).headers['x-clickhouse-exception-code'], path).toBe(
          code,
        );
      }
      const garbled = await send({ body: 'SELECT 1', headers: { 'Content-Encoding': 'gzip' } });
      expect([garbled.status, garbled.headers['x-clickhouse-exception-code']]).toEqual([400, '271']);
      expect((await send({ body: 'SELECT 1', headers: { 'Content-Encoding': 'zstd' } })).status).toBe(415);
      expect((await send({ body: `SELECT 1 -- ${'x'.repeat(2 ** 20)}` })).status).toBe(413);
    });

    it.each(['SET max_threads = 1', 'USE default', 'CREATE TEMPORARY TABLE t (x UInt8) ENGINE = Memory'])(
      'refuse what a session would keep: %s',
      async (body) => {
        const answer = await send({ path: '/?session_id=s', body });
        expect(answer.headers['x-clickhouse-exception-code']).toBe('1');
        expect(answer.text).toContain('Sessions keep no state');
      },
    );

    it('in mid-stream reach the client as the exception they are', async () => {
      const query = 'SELECT throwIf(number = 1500000) FROM numbers(3000000)';
      const result = await client.query({ query, format: 'JSONEachRow' });
      await expect(async () => {
        for await (const rows of result.stream()) void rows;
      }).rejects.toMatchObject({ code: '395', type: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO' });
    });

    it('in mid-stream never look like a complete result', async () => {
      for (const path of ['/', '/?enable_http_compression=1']) {
        const torn = send({
          path,
          body: 'SELECT throwIf(number = 1500000) FROM numbers(3000000)',
          headers: { 'Accept-Encoding': 'gzip' },
        });
        await expect(torn).rejects.toMatchObject({ code: 'ECONNRESET' });
      }
    });

    it('late in a result have a status when the request has wait_end_of_query', async () => {
      const answer = await send({
        path: '/?wait_end_of_query=1',
        body: 'SELECT throwIf(number = 1500000) FROM numbers(3000000)',
      });
      expect([answer.status, answer.headers['x-clickhouse-exception-code']]).toEqual([500, '395']);
    });
  });

  describe('many requests', () => {
    it('run concurrently on kept-alive connections', async () => {
      const inserts = Array.from({ length: 20 }, (_, i) =>
        client.insert({ table: 'items', values: [{ id: i }], format: 'JSONEachRow' }),
      );
      const selects = Array.from({ length: 100 }, (_, i) =>
        rowsOf<{ n: number }>('SELECT {n:UInt32} + 1 AS n', { n: i }),
      );
      const answers = await Promise.all(selects);
      expect(answers.map(([{ n }]) => Number(n))).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
      await Promise.all(inserts);
      expect(await numItems()).toBe(20);
    });

    it('insert and read while long analyses occupy all of their places', async () => {
      const controller = new AbortController();
      const slow = 'SELECT sum(cityHash64(number)) FROM numbers(100000000000) SETTINGS max_threads = 1';
      const analyses = [
        ...Array.from({ length: 3 }, () => client.query({ query: slow, abort_signal: controller.signal })),
        ...Array.from({ length: 4 }, () =>
          reader.query({
            query: 'SELECT count() FROM items AS a, items AS b, items AS c, items AS d',
            abort_signal: controller.signal,
          }),
        ),
      ].map((analysis) => analysis.catch(() => 'aborted'));
      await sleep(200);
      const insert = performance.now();
      await client.insert({ table: 'items', values: [{ id: 1 }], format: 'JSONEachRow' });
      expect(await numItems()).toBe(1);
      expect(performance.now() - insert).toBeLessThan(20_000);
      controller.abort();
      await Promise.all(analyses);
    });

    it('that are aborted by the client end on the server', async () => {
      const controller = new AbortController();
      const pending = client.query({
        query: 'SELECT sum(cityHash64(number)) AS aborted FROM numbers(100000000000)',
        abort_signal: controller.signal,
      });
      await sleep(200);
      controller.abort();
      await expect(pending).rejects.toThrow('aborted');
      await noneRunning('AS aborted');
    });
  });

  describe('the read-only user', () => {
    it('frees the places of explained queries when their clients leave', async () => {
      await client.command({ query: 'INSERT INTO items (id) SELECT number FROM numbers(10000)' });
      const controller = new AbortController();
      const query =
        'EXPLAIN SELECT (SELECT sum(cityHash64(a.id, b.id, c.id)) FROM items AS a, items AS b, items AS c)';
      // More than there are places.
      const explained = Array.from({ length: 8 }, () =>
        reader.exec({ query, abort_signal: controller.signal }).catch(() => 'aborted'),
      );
      await sleep(1_500);
      controller.abort();
      expect(new Set(await Promise.all(explained))).toEqual(new Set(['aborted']));
      const startedAtMs = performance.now();
      expect((await send({ body: 'SELECT 1', user: READONLY_USER })).text).toBe('1\n');
      // They would take their whole 30 seconds.
      expect(performance.now() - startedAtMs).toBeLessThan(20_000);
    });

    it('reads tables and the catalogue, and lists and describes tables', async () => {
      await client.insert({ table: 'items', values: [{ id: 1, name: 'a' }], format: 'JSONEachRow' });
      const result = await reader.query({
        query: 'SELECT name FROM items WHERE id = {id:UInt64}',
        query_params: { id: 1 },
        format: 'JSONEachRow',
      });
      expect(await result.json()).toEqual([{ name: 'a' }]);
      for (const query of [
        'SHOW TABLES',
        'DESCRIBE items',
        'SELECT count() FROM system.tables',
        'SELECT table_name FROM information_schema.tables',
        'EXPLAIN AST SELECT 1',
        'EXPLAIN SELECT name FROM items',
        'EXPLAIN json = 1, indexes = 1 SELECT name FROM items WHERE id = 1',
        'explain estimate (SELECT count() FROM items);',
      ]) {
        expect((await send({ body: query, user: READONLY_USER })).status, query).toBe(200);
      }
    });

    it.each([
      ["INSERT INTO items VALUES (1, '', [])", '164'],
      ['DROP TABLE items', '164'],
      ['SET readonly = 0', '164'],
      ['SET ROLE retrace_full', '164'],
      ['KILL QUERY WHERE 1', '164'],
      ["EXPLAIN SELECT file('/etc/passwd')", '497'],
      ["EXPLAIN ESTIMATE SELECT * FROM file('/etc/passwd')", '497'],
      ['EXPLAIN SELECT * FROM system.processes', '497'],
      ['EXPLAIN SELECT 1 SETTINGS max_execution_time = 0', '164'],
      ['EXPLAIN SELECT 1 FORMAT JSON', '497'],
      ["EXPLAIN SELECT 1 INTO OUTFILE 'x'", '358'],
      ['EXPLAIN distributed = 1 SELECT 1', '62'],
      ['EXPLAIN PIPELINE SELECT 1', '62'],
      ['EXPLAIN INSERT INTO items SELECT * FROM items', '497'],
      ['EXPLAIN PLAN DROP TABLE items', '497'],
      ['CHECK TABLE items', '497'],
      ["SELECT file('/etc/passwd')", '497'],
      ["SELECT arrayMap(file, ['/etc/passwd'])", '497'],
      ["SELECT * FROM file('/etc/passwd')", '497'],
      ["SELECT * FROM url('http://127.0.0.1/', 'TSV')", '497'],
      ['SELECT * FROM system.processes', '497'],
      ['SELECT 1 SETTINGS max_execution_time = 0', '164'],
      ['SELECT 1 FORMAT JSON SETTINGS max_execution_time = 0', '164'],
      ["SHOW TABLES WHERE file('/etc/passwd') = ''", '497'],
      ["DESCRIBE file('/etc/passwd')", '497'],
      ["SELECT 1 INTO OUTFILE 'x'", '358'],
      ['SELECT 1; DROP TABLE items', '62'],
      ['EXPLAIN AST SELECT 1; DROP TABLE items', '62'],
    ])('may not %s', async (body, code) => {
      const answer = await send({ body, user: READONLY_USER });
      expect(answer.headers['x-clickhouse-exception-code'], answer.text).toBe(code);
      expect(await numItems()).toBe(0);
    });

    it('can lower its limits but never raise them', async () => {
      const body = `SELECT name, value FROM system.settings
                    WHERE name IN ('max_bytes_to_read', 'max_execution_time', 'max_memory_usage', 'max_rows_to_read',
                                   'max_temporary_data_on_disk_size_for_query', 'max_threads', 'readonly')
                    ORDER BY name`;
      const limits = async (path: string) => (await send({ path, body, user: READONLY_USER })).text;
      const normal =
        'max_bytes_to_read\t34359738368\nmax_execution_time\t30\nmax_memory_usage\t1073741824\n' +
        'max_rows_to_read\t100000000\nmax_temporary_data_on_disk_size_for_query\t1073741824\n' +
        'max_threads\t1\nreadonly\t1\n';
      expect(await limits('/')).toBe(normal);
      expect(await limits('/?max_execution_time=5')).toBe(normal.replace('\t30\n', '\t5\n'));
      expect(await limits('/?max_execution_time=0&max_threads=64')).toBe(normal);
      expect(await limits('/?max_execution_time=x')).toBe(normal);
      // As the JDBC driver asks with every statement; it says how to insert.
      expect(await limits('/?async_insert=0&wait_for_async_insert=1')).toBe(normal);
      expect(await limits('/?max_memory_usage=0&max_rows_to_read=0&max_bytes_to_read=99999999999999')).toBe(
        normal,
      );
      const more = [
        'readonly=0',
        'max_threads_for_indexes=1',
        'database=system',
        'format_template_row=%2Fetc%2Fpasswd',
        'output_format_schema=x',
        // Any SQL could be in it.
        `additional_table_filters=${encodeURIComponent("{'items': 'id = 1'}")}`,
      ];
      for (const path of more.map((setting) => `/?${setting}`)) {
        expect((await send({ path, body, user: READONLY_USER })).status, path).toBeGreaterThan(400);
      }
      const many = await send({
        path: '/?max_result_rows=2',
        body: 'SELECT name FROM system.functions',
        user: READONLY_USER,
      });
      expect(many.headers['x-clickhouse-exception-code']).toBe('396');
    });

    it.each([
      ['/?max_rows_to_read=999', 'SELECT sum(id) FROM items', '158'],
      ['/?max_bytes_to_read=7999', 'SELECT sum(id) FROM items', '307'],
      ['/?max_memory_usage=1000000', 'SELECT uniqExact(a.id, b.id) FROM items AS a, items AS b', '241'],
    ])('reads and holds no more than its limit (%s)', async (path, body, code) => {
      await client.insert({
        table: 'items',
        values: Array.from({ length: 1000 }, (_, id) => ({ id, name: '' })),
        format: 'JSONEachRow',
      });
      const answer = await send({ path, body, user: READONLY_USER });
      expect(answer.headers['x-clickhouse-exception-code'], answer.text).toBe(code);
      expect((await send({ body: 'SELECT sum(id) FROM items', user: READONLY_USER })).text).toBe('499500\n');
    });

    it('is restricted by the engine’s grants too', async () => {
      const grants = await rowsOf<{ access_type: string }>(
        "SELECT access_type, database FROM system.grants WHERE role_name = 'retrace_readonly'",
      );
      expect(grants.length).toBeGreaterThan(0);
      expect(grants.every(({ access_type }) => /^(?:SELECT|SHOW)/.test(access_type))).toBe(true);
    });
  });
});
