import type { IncomingMessage } from 'node:http';
import { ClickHouseException } from '../statement/clickhouse-exception.js';
import { readQueryRequest, type QueryRequest } from './query-request.js';
import { RequestBody, type RequestBodyOptions, type SpooledBody } from './request-body.js';
import {
  parseInsertWithData,
  parseStatement,
  type InsertStatement,
  type Statement,
} from '../statement/statement.js';

/** A parsed request. The data of an INSERT may not have arrived yet: `spoolData` receives it. */
export interface StatementRequest {
  readonly query: QueryRequest;
  readonly statement: Statement;
  readonly spoolData: () => Promise<SpooledBody>;
}

/**
 * Reads a request up to the end of its statement, which is in the URL, in the body, or begins in the URL and continues in the body.
 * In form data, `query` and `param_*` are fields.
 *
 * @throws ClickHouseException SYNTAX_ERROR, QUERY_IS_TOO_LARGE, CANNOT_DECOMPRESS, UNSUPPORTED_METHOD, …
 */
export async function readStatementRequest(
  request: IncomingMessage,
  parameters: URLSearchParams,
  options: Omit<RequestBodyOptions, 'hasBlocks'>,
): Promise<StatementRequest> {
  const body = new RequestBody(request, { ...options, hasBlocks: parameters.get('decompress') === '1' });
  const contentType = request.headers['content-type'] ?? '';
  if (/^multipart\/form-data\b/i.test(contentType)) {
    for (const [name, value] of await readForm(await body.readHead(), contentType)) {
      parameters.append(name, value);
    }
  }
  const query = readQueryRequest(parameters, request.headers);
  const urlText = query.urlQuery === '' ? '' : `${query.urlQuery}\n`;
  const insert = parseInsertWithData(urlText);
  if (insert !== null) {
    const begun = dataBehind(insert, urlText, Buffer.from(urlText));
    return {
      query,
      statement: insert,
      spoolData: () => (begun.length === 0 ? body.spoolWhole() : body.spool(begun)),
    };
  }

  const head = await body.readHead();
  const text = urlText + head.bytes.toString();
  const statement = parseStatement(text);
  if (query.hasSession) refuseSessionState(statement);
  if (statement.kind !== 'insert' && !head.isWhole) {
    throw ClickHouseException.of(
      'QUERY_IS_TOO_LARGE',
      `The statement is longer than ${options.maxQueryBytes} bytes, which is the maximum`,
    );
  }
  return {
    query,
    statement,
    spoolData: () => {
      const bytes = Buffer.concat([Buffer.from(urlText), head.bytes]);
      return body.spool(statement.kind === 'insert' ? dataBehind(statement, text, bytes) : Buffer.alloc(0));
    },
  };
}

/**
 * A client may name a session, as ClickHouse's Python client does by default, while nothing depends on it: every statement has a connection of
 * its own, so what one would leave behind for the next is refused.
 */
function refuseSessionState(statement: Statement): void {
  if (
    statement.kind !== 'command' ||
    !/^(?:SET|USE|CREATE\s+(?:OR\s+REPLACE\s+)?TEMPORARY)\b/i.test(statement.text.trim())
  )
    return;
  throw ClickHouseException.of(
    'UNSUPPORTED_METHOD',
    `Sessions keep no state: every statement has a separate connection, so ${statement.keyword} has no effect on the next; send settings with each statement`,
  );
}

/** Returns the data that arrived with the head of an INSERT: behind the first line break after it, or behind blanks if there is none. */
function dataBehind(insert: InsertStatement, text: string, bytes: Buffer): Buffer {
  let start = Buffer.byteLength(text.slice(0, insert.dataOffset));
  while (bytes[start] === 0x20 || bytes[start] === 0x09 || bytes[start] === 0x0c) start++;
  if (bytes[start] === 0x0d) start++;
  if (bytes[start] === 0x0a) start++;
  return bytes.subarray(start);
}

async function readForm(
  head: { readonly bytes: Buffer; readonly isWhole: boolean },
  contentType: string,
): Promise<[string, string][]> {
  if (!head.isWhole)
    throw ClickHouseException.of('QUERY_IS_TOO_LARGE', `Form data is longer than ${head.bytes.length} bytes`);
  let form: FormData;
  try {
    form = await new Response(head.bytes, { headers: { 'Content-Type': contentType } }).formData();
  } catch (error) {
    throw ClickHouseException.of('BAD_ARGUMENTS', 'The request body is not valid form data', {
      cause: error,
    });
  }
  return [...form].map(([name, value]) => {
    if (typeof value !== 'string')
      throw ClickHouseException.of('UNSUPPORTED_METHOD', `External data (${name}) is not supported`);
    return [name, value];
  });
}
