import type { ApiConnection } from '../wire/api-connection.js';
import { RetraceError } from '../wire/retrace-error.js';
import type { OutboxLine } from '../storable/outbox-entry.js';

/** The answer of the server to lines of one run and kind. */
export type Delivery =
  | { readonly outcome: 'acknowledged'; readonly numDuplicates: number }
  /** Nothing is known to be stored: send the same again, later. */
  | { readonly outcome: 'wait'; readonly error: RetraceError }
  /** Nothing was stored. `index`: the first line at fault; null when the server did not say. */
  | { readonly outcome: 'refused'; readonly index: number | null; readonly error: RetraceError };

/** Bodies below this size are sent as they are. */
const GZIP_FROM_BYTES = 2_048;

/** Sends lines of one run and kind: one start, one end, or records. Sending them twice stores them once. */
export async function deliver(
  connection: ApiConnection,
  lines: readonly OutboxLine[],
  signal: AbortSignal,
): Promise<Delivery> {
  const [{ kind, run }] = lines;
  const path = kind === 'start' ? '/api/runs' : `/api/runs/${run}/${kind === 'end' ? 'end' : 'records'}`;
  try {
    const encoded = await encodeBody(lines, { gzip: !connection.isLoopback });
    const { duplicates = 0 } = await connection.request('POST', path, { ...encoded, signal }, readAnswer);
    return { outcome: 'acknowledged', numDuplicates: duplicates };
  } catch (error) {
    if (!(error instanceof RetraceError)) throw error;
    if (error.code !== 'REFUSED') return { outcome: 'wait', error };
    return { outcome: 'refused', index: lines.length === 1 ? 0 : faultyIndex(error, lines.length), error };
  }
}

async function readAnswer(response: Response): Promise<{ readonly duplicates?: number }> {
  const answer: unknown = await response.json();
  return typeof answer === 'object' && answer !== null ? answer : {};
}

function faultyIndex({ errors }: RetraceError, numLines: number): number | null {
  const index = errors.find((error) => typeof error.index === 'number')?.index;
  return index !== undefined && index >= 0 && index < numLines ? index : null;
}

async function encodeBody(
  lines: readonly OutboxLine[],
  { gzip }: { readonly gzip: boolean },
): Promise<{ body: string | Uint8Array<ArrayBuffer>; headers: Record<string, string> }> {
  const isBatch = lines[0].kind === 'record';
  const body = isBatch ? lines.map(({ json }) => `${json}\n`).join('') : lines[0].json;
  const headers = { 'content-type': isBatch ? 'application/x-ndjson' : 'application/json' };
  if (!gzip || !isBatch || body.length < GZIP_FROM_BYTES) return { body, headers };
  const packed = new Blob([body]).stream().pipeThrough(new CompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  return { body: bytes, headers: { ...headers, 'content-encoding': 'gzip' } };
}
