import type { DataDirectory } from '@retrace/process';
import { CliError } from '../cli-error.js';

interface Query {
  readonly sql: string;
  /** ClickHouse's name of the output format. */
  readonly format: string;
  /** Settings of the engine that its read-only user may change. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Runs one statement as the store's read-only user, with the limits of that user, and yields the bytes of the result as they arrive.
 *
 * @throws CliError `QUERY_FAILED` with the engine's reason; `STORE_UNAVAILABLE` where the store is not there, or stops in the middle of the result
 */
export async function* runQuery(
  { directory, storeUrl }: { readonly directory: DataDirectory; readonly storeUrl: string },
  { sql, format, settings = {}, signal }: Query,
): AsyncGenerator<Uint8Array> {
  const { readonlyUser, readonlyPassword } = directory.credentials();
  const parameters = new URLSearchParams({ default_format: format, ...settings });
  const response = await fetch(`${storeUrl}/?${parameters.toString()}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': readonlyUser, 'X-ClickHouse-Key': readonlyPassword },
    body: sql,
    signal,
  }).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw unavailable(`the store at ${storeUrl} does not answer`, cause);
  });
  if (!response.ok || response.body === null) {
    const { describeExceededLimit } = await import('@retrace/store/user-sql');
    const reason = readableReason(await response.text());
    const exceptionCode = Number(response.headers.get('X-ClickHouse-Exception-Code'));
    throw new CliError('QUERY_FAILED', `query: ${describeExceededLimit(exceptionCode, reason) ?? reason}`);
  }
  try {
    yield* response.body;
  } catch (cause) {
    signal?.throwIfAborted();
    throw unavailable('the store stopped in the middle of the result', cause);
  }
}

function unavailable(what: string, cause: unknown): CliError {
  return new CliError('STORE_UNAVAILABLE', `query: ${what}; run it again`, { cause, retriable: true });
}

/** The engine's message without its stack and version. */
function readableReason(text: string): string {
  return text
    .replace(/^Code: \d+\. DB::Exception: /, '')
    .replace(/\s*\(version [^)]*\)\s*$/, '')
    .trim();
}
