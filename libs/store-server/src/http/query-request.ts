import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ClickHouseException } from '../statement/clickhouse-exception.js';

/** The contents of a request besides its statement, from URL parameters and headers of ClickHouse's HTTP interface. */
export interface QueryRequest {
  /** The statement, or its first part, from the URL. */
  readonly urlQuery: string;
  readonly queryId: string;
  readonly database: string;
  readonly defaultFormat: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  readonly compressResponse: boolean;
  /** Send the answer in blocks of ClickHouse's own compression, instead of HTTP compression. */
  readonly blockResponse: boolean;
  /** Version of the native protocol for format Native; 0, the plain form, unless the request states one. */
  readonly nativeVersion: number;
  /** Hold the answer until the statement has ended, so that a late failure still has a status. */
  readonly waitEndOfQuery: boolean;
  /** Whether the client names a session. */
  readonly hasSession: boolean;
}

/** Parameters of the HTTP interface that are not settings of the engine. */
const INTERFACE_PARAMETERS: ReadonlySet<string> = new Set([
  'add_http_cors_header',
  'buffer_size',
  'cancel_http_readonly_queries_on_client_close',
  'client_protocol_version',
  'close_session',
  'compress',
  'database',
  'decompress',
  'default_format',
  'enable_http_compression',
  'http_zlib_compression_level',
  'password',
  'query',
  'query_id',
  'quota_key',
  'role',
  'send_progress_in_http_headers',
  'session_check',
  'session_id',
  'session_timeout',
  'stacktrace',
  'user',
  'wait_end_of_query',
]);

/** Names become part of the SQL that runs before a statement. */
const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FORMAT_NAME = /^[A-Za-z0-9_]+$/;

/** @throws ClickHouseException UNSUPPORTED_METHOD for roles */
export function readQueryRequest(parameters: URLSearchParams, headers: IncomingHttpHeaders): QueryRequest {
  if (parameters.has('role'))
    throw ClickHouseException.of(
      'UNSUPPORTED_METHOD',
      'Roles are not supported: the rights of a user are fixed; leave out role',
    );
  const settings = new Map<string, string>();
  const queryParameters = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (!PARAMETER_NAME.test(name))
      throw ClickHouseException.of(
        'BAD_ARGUMENTS',
        `${JSON.stringify(name)} is not a name of a setting or parameter; use letters, digits and underscores`,
      );
    if (name.startsWith('param_')) queryParameters.set(name.slice('param_'.length), value);
    else if (!INTERFACE_PARAMETERS.has(name)) settings.set(name, value);
  }
  const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
  const defaultFormat = parameters.get('default_format') ?? header('x-clickhouse-format') ?? 'TabSeparated';
  if (!FORMAT_NAME.test(defaultFormat)) {
    throw ClickHouseException.of(
      'BAD_ARGUMENTS',
      `${JSON.stringify(defaultFormat)} is not a name of a format; use letters, digits and underscores`,
    );
  }
  return {
    urlQuery: parameters.get('query') ?? '',
    queryId: parameters.get('query_id') || randomUUID(),
    database: parameters.get('database') ?? header('x-clickhouse-database') ?? 'default',
    defaultFormat,
    parameters: queryParameters,
    settings,
    compressResponse: parameters.get('enable_http_compression') === '1',
    blockResponse: parameters.get('compress') === '1',
    nativeVersion: Number(parameters.get('client_protocol_version') ?? 0),
    waitEndOfQuery: parameters.get('wait_end_of_query') === '1',
    hasSession: parameters.has('session_id'),
  };
}
