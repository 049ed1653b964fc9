import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
  parseError,
  type ResponseJSON,
} from '@clickhouse/client';
import { assertCompleteArrowStream } from '../arrow/arrow-columns.js';
import { clusterLayout, ONE_SERVER, type StoreLayout } from './store-layout.js';
import { asStoreError } from './store-error.js';

export interface StoreClientOptions {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** Must exist (default `default`). */
  readonly database?: string;
  /** Name of the cluster that the tables are spread over (default: one server). */
  readonly cluster?: string | null;
  /** Longest wait for an answer (default 120,000). */
  readonly requestTimeoutMs?: number;
}

export interface StatementOptions {
  /** Values of the statement's `{name:Type}` placeholders. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly settings?: ClickHouseSettings;
  readonly signal?: AbortSignal;
}

/** A result with its columns in order: names may repeat, types are the store's own. */
export interface ResultTable {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** 64-bit integers, NaN and infinities as text, since JSON has no exact form for them. */
  readonly rows: readonly (readonly unknown[])[];
}

export interface ArrowQueryOptions extends StatementOptions {
  /** Memory for the answer: the whole buffer of an earlier answer that is no longer read. */
  readonly room?: Uint8Array;
  /** SQL of a user, who may change no setting (default false). */
  readonly isUserSql?: boolean;
}

export interface ArrowInsert {
  readonly table: string;
  readonly columns: readonly string[];
  /** Rows in Arrow's streaming format. */
  readonly body: Uint8Array;
  readonly settings?: ClickHouseSettings;
  readonly signal?: AbortSignal;
}

/** Forms of EXPLAIN: the syntax tree; the plan, as one JSON text; the rows that each table is read for. */
export type ExplainForm = 'AST' | 'PLAN actions = 1, indexes = 1, json = 1' | 'ESTIMATE';

/** The store as the rest of Retrace sees it. All methods reject with a `StoreError`. */
export interface StoreClient {
  readonly database: string;
  readonly layout: StoreLayout;
  /** Returns one object for each row; 64-bit integers as numbers, NaN and infinities as null. For small results. */
  queryRows<Row>(sql: string, options?: StatementOptions): Promise<Row[]>;
  /** Returns a result of unknown shape, for SQL of users. For small results. */
  queryTable(sql: string, options?: StatementOptions): Promise<ResultTable>;
  /** Returns the whole result in Arrow's streaming format, uncompressed, so read in slices of limited size. `sql` without FORMAT. */
  queryArrow(sql: string, options?: ArrowQueryOptions): Promise<Uint8Array>;
  /** Returns the syntax tree of a statement, one node a line, as `checkUserSql` reads it; evaluates nothing. */
  explainAst(sql: string, options?: StatementOptions): Promise<string>;
  /** Returns the rows of `EXPLAIN <form> <sql>`: how a SELECT would be answered. The engine computes its subqueries. */
  explain<Row>(form: ExplainForm, sql: string, options?: StatementOptions): Promise<Row[]>;
  /** Runs a statement without a result. */
  command(sql: string, options?: StatementOptions): Promise<void>;
  /** Resolves once the rows are durable. After a rejection it is unknown whether they are. */
  insertArrow(insert: ArrowInsert): Promise<void>;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** For code that reads rows only. */
export type StoreReader = Pick<StoreClient, 'queryRows'>;

/** The end of a result that ended in an exception: mark, tag, text, length and tag, mark. */
const EXCEPTION_AT_END = /__exception__\r?\n\w+\r?\n(Code: [\s\S]*?)\r?\n\d+ \w+\r?\n__exception__\r?\n$/;
const MAX_EXCEPTION_CHARACTERS = 20_000;

/**
 * Settings of Retrace's own statements; those of users have none of them. Engine 26.7 can wrongly remember that no row
 * of a granule matches a condition (ClickHouse/ClickHouse#119823, #114827), and admission, lost episodes, verify and deletions decide by rows
 * that are missing. In `retrace store`, and in `docker/clickhouse`, the profile says so for everybody.
 */
const OWN_STATEMENTS: ClickHouseSettings = { use_query_condition_cache: 0 };

const JSON_SETTINGS: ClickHouseSettings = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 0,
};

const TABLE_SETTINGS: ClickHouseSettings = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 1,
};

const ARROW_SETTINGS: ClickHouseSettings = {
  // apache-arrow for JavaScript reads no compressed buffers.
  output_format_arrow_compression_method: 'none',
};

/**
 * A client for a ClickHouse server, or for `retrace store`, which speaks the same protocol.
 *
 * @throws StoreError `CLUSTER_NAME_INVALID`
 */
export function createStoreClient({
  url,
  username,
  password,
  database = 'default',
  cluster = null,
  requestTimeoutMs = 120_000,
}: StoreClientOptions): StoreClient {
  const layout = cluster === null ? ONE_SERVER : clusterLayout(cluster);
  const client = createClient({
    url,
    username,
    password,
    database,
    request_timeout: requestTimeoutMs,
    application: 'retrace',
    clickhouse_settings: layout.settings,
    log: { level: ClickHouseLogLevel.OFF },
  });
  return new HttpStoreClient(client, database, layout);
}

class HttpStoreClient implements StoreClient {
  /** Of the last result: the slices of a history are alike. */
  private arrowBytes = 0;

  constructor(
    private readonly client: ClickHouseClient,
    readonly database: string,
    readonly layout: StoreLayout,
  ) {}

  async queryRows<Row>(sql: string, { params, settings, signal }: StatementOptions = {}): Promise<Row[]> {
    return attempt('a query', async () => {
      const text = await this.readText(`${sql}\nFORMAT JSONEachRow`, {
        params,
        settings: { ...OWN_STATEMENTS, ...JSON_SETTINGS, ...settings },
        signal,
      });
      const lines = text.split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as Row);
    });
  }

  async queryTable(sql: string, { params, settings, signal }: StatementOptions = {}): Promise<ResultTable> {
    return attempt('a query', async () => {
      const text = await this.readText(`${sql}\nFORMAT JSONCompact`, {
        params,
        settings: { ...TABLE_SETTINGS, ...settings },
        signal,
      });
      const { meta, data } = JSON.parse(text) as Pick<ResponseJSON<unknown[]>, 'meta' | 'data'>;
      return { columns: meta ?? [], rows: data };
    });
  }

  async explainAst(sql: string, options?: StatementOptions): Promise<string> {
    const lines = await this.explain<{ readonly explain: string }>('AST', sql, options);
    return lines.map(({ explain }) => explain).join('\n');
  }

  async explain<Row>(
    form: ExplainForm,
    sql: string,
    { settings, signal }: StatementOptions = {},
  ): Promise<Row[]> {
    return attempt('a query', async () => {
      // A FORMAT clause would belong to the statement that is explained.
      const format = { default_format: 'JSONEachRow' } as ClickHouseSettings;
      const text = await this.readText(`EXPLAIN ${form} ${sql}`, {
        settings: { ...settings, ...format },
        signal,
      });
      const lines = text.split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as Row);
    });
  }

  /** Reads the text here, because the client's own JSON reader discards the exception that a broken answer ends with. */
  private async readText(sql: string, { params, settings, signal }: StatementOptions): Promise<string> {
    const { stream } = await this.client.exec({
      query: sql,
      query_params: params,
      clickhouse_settings: settings,
      abort_signal: signal,
    });
    const { bytes, failure } = await readToTheEnd(stream, newRoom());
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    if (failure === null) return text;
    const exception = EXCEPTION_AT_END.exec(text.slice(-MAX_EXCEPTION_CHARACTERS))?.[1];
    throw exception === undefined ? failure : parseError(exception);
  }

  async queryArrow(
    sql: string,
    { params, settings, signal, room, isUserSql = false }: ArrowQueryOptions = {},
  ): Promise<Uint8Array> {
    return attempt('a query', async () => {
      const { stream } = await this.client.exec({
        query: `${sql}\nFORMAT ArrowStream`,
        query_params: params,
        clickhouse_settings: { ...(isUserSql ? {} : OWN_STATEMENTS), ...ARROW_SETTINGS, ...settings },
        abort_signal: signal,
      });
      const { bytes, failure } = await readToTheEnd(
        stream,
        room ?? newRoom(ROOM_OVER_LAST * this.arrowBytes),
      );
      this.arrowBytes = bytes.length;
      // Checked before the failure: an exception after the first rows comes as text in the stream, and then the connection breaks.
      assertCompleteArrowStream(bytes);
      if (failure !== null) throw failure;
      return bytes;
    });
  }

  async command(sql: string, { params, settings, signal }: StatementOptions = {}): Promise<void> {
    await attempt('a statement', () =>
      this.client.command({
        query: sql,
        query_params: params,
        clickhouse_settings: { ...OWN_STATEMENTS, wait_end_of_query: 1, ...settings },
        abort_signal: signal,
      }),
    );
  }

  async insertArrow({ table, columns, body, settings, signal }: ArrowInsert): Promise<void> {
    await attempt(`an insert of ${body.length} bytes into ${table}`, async () => {
      const { stream } = await this.client.exec({
        query: `INSERT INTO ${table} (${columns.map((name) => `\`${name}\``).join(', ')}) FORMAT ArrowStream`,
        values: Readable.from([body]),
        clickhouse_settings: { wait_end_of_query: 1, ...settings },
        abort_signal: signal,
      });
      await buffer(stream);
    });
  }

  async ping(): Promise<void> {
    await attempt('a ping', async () => {
      const result = await this.client.ping();
      if (!result.success) throw result.error;
    });
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}

/** The least memory for an answer. */
const MIN_ANSWER_BYTES = 64 * 1024;
/** Memory for an answer, relative to the size of the last one: slightly more, because an answer that does not fit is copied. */
const ROOM_OVER_LAST = 1.125;
const MAX_EXPECTED_BYTES = 64 * 1024 * 1024;

function newRoom(expectedBytes = 0): Uint8Array {
  const numBytes = Math.max(MIN_ANSWER_BYTES, Math.min(Math.ceil(expectedBytes), MAX_EXPECTED_BYTES));
  return Buffer.allocUnsafeSlow(numBytes);
}

/**
 * Reads all bytes that arrive, and the failure that ended them, if any. Uses events, since an iterator drops what is buffered when it
 * fails. Chunks are copied at once: kept until the end they would outlive the garbage collector's young generation.
 *
 * @param room memory for the first bytes
 */
async function readToTheEnd(
  stream: Readable,
  room: Uint8Array,
): Promise<{ readonly bytes: Uint8Array; readonly failure: Error | null }> {
  let bytes = room;
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    if (length + chunk.length > bytes.length) {
      const grown = Buffer.allocUnsafeSlow(2 * (length + chunk.length));
      grown.set(bytes.subarray(0, length));
      bytes = grown;
    }
    bytes.set(chunk, length);
    length += chunk.length;
  });
  const failure = await finished(stream).then(
    () => null,
    (error: Error) => error,
  );
  return { bytes: bytes.subarray(0, length), failure };
}

async function attempt<T>(what: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw asStoreError(error, what);
  }
}
