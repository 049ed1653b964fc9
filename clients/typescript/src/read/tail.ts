import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { ApiConnection } from '../wire/api-connection.js';
import { RetraceError } from '../wire/retrace-error.js';
import { retryDelayMs } from '../sender/retry-delay.js';
import type { JsonObject } from '../wire/records.js';
import type { ReadOptions } from './read-options.js';

/** An event of a run. `reset`: messages were missed, so what was derived from them must be read again. */
export interface LiveMessage {
  readonly kind: string;
  readonly data: JsonObject;
}

/** Nothing for so long, not even a heartbeat (every 15 s): the connection is lost. */
const SILENCE_MS = 45_000;

/**
 * Messages of the live stream, until the run ends. After a lost connection it goes on behind the last message.
 *
 * @throws RetraceError `REFUSED` or `UNAUTHORIZED`; other failures are tried again
 */
export async function* tailRun(
  connection: ApiConnection,
  runId: string,
  { signal }: ReadOptions,
): AsyncGenerator<LiveMessage> {
  let lastId = '';
  let numFailures = 0;
  while (!signal?.aborted) {
    try {
      for await (const { id, message } of readStream(connection, runId, lastId, signal)) {
        lastId = id ?? lastId;
        numFailures = 0;
        if (message.kind === 'heartbeat') continue;
        yield message;
        if (message.kind === 'run' && message.data.state === 'ended') return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof RetraceError && ['REFUSED', 'UNAUTHORIZED'].includes(error.code)) throw error;
    }
    await sleep(retryDelayMs(++numFailures, null, Math.random()), signal);
  }
}

async function* readStream(
  connection: ApiConnection,
  runId: string,
  lastId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ readonly id: string | undefined; readonly message: LiveMessage }> {
  const lost = new AbortController();
  const silence = new SilenceTimer(() => {
    lost.abort();
  });
  try {
    const response = await connection.open('GET', `/api/runs/${encodeURIComponent(runId)}/live`, {
      headers: { accept: 'text/event-stream', ...(lastId !== '' && { 'last-event-id': lastId }) },
      signal: signal ? AbortSignal.any([signal, lost.signal]) : lost.signal,
    });
    if (!response.body) return;
    const events = response.body
      .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array<ArrayBuffer>, string>)
      .pipeThrough(new EventSourceParserStream());
    for await (const { id, event, data } of events) {
      silence.restart();
      yield { id, message: { kind: event ?? 'message', data: JSON.parse(data) as JsonObject } };
    }
  } finally {
    silence.stop();
    lost.abort();
  }
}

class SilenceTimer {
  private timer: ReturnType<typeof setTimeout>;

  constructor(private readonly onSilence: () => void) {
    this.timer = setTimeout(onSilence, SILENCE_MS);
  }

  restart(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.onSilence, SILENCE_MS);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    signal?.addEventListener('abort', end);
  });
}
