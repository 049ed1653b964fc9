import type { IncomingMessage, ServerResponse } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import type { JsonObject } from '@retrace/client';
import { eventObject } from '../protocol/json-fields.js';
import type { PreparedCall, RecordedCall, SseEvent, StreamReader } from '../protocol/protocol.js';
import { readAnswer } from '../upstream/read-answer.js';
import { SseFrames, withData, type SseFrame } from '../sse/sse-frames.js';
import { writeTo } from './client-stream.js';

/** An answer on its way from the upstream to the client. */
export interface RelayedAnswer {
  readonly call: PreparedCall;
  readonly upstream: IncomingMessage;
  readonly client: ServerResponse;
  /** Records the call. Resolves when the client may have the end of its answer. */
  readonly finish: (call: RecordedCall) => Promise<void>;
}

const MAX_ERROR_CHARACTERS = 2_000;
const LAST_EVENT = /^(message_stop|response\.(completed|failed|incomplete))$/;

/**
 * Passes on an answer that comes as a whole. Its last bytes wait until the call is recorded; all of it does where something must be
 * hidden in it.
 *
 * @throws Error when either side breaks off
 */
export async function relayWhole({ call, upstream, client, finish }: RelayedAnswer): Promise<void> {
  const status = upstream.statusCode ?? 0;
  const chunks: Buffer[] = [];
  let held: Buffer | null = null;
  await readAnswer(upstream, (chunk) => {
    chunks.push(chunk);
    if (call.hides) return undefined;
    const before = held;
    held = chunk;
    return before ? writeTo(client, before) : undefined;
  });
  const text = Buffer.concat(chunks).toString();
  const body = eventObject(text);
  await finish(call.read({ status, body: body ?? unreadBody(status, text) }));
  if (call.hides) {
    const shown = Buffer.from(body && status < 400 ? JSON.stringify(call.hide(body)) : text);
    if (!client.headersSent) client.setHeader('content-length', shown.length);
    await writeTo(client, shown);
  } else if (held) await writeTo(client, held);
  client.end();
}

/** The text of a failure that is not JSON, such as a gateway's page. */
function unreadBody(status: number, text: string): JsonObject {
  return status >= 400 ? { error: { message: text.slice(0, MAX_ERROR_CHARACTERS) } } : {};
}

/**
 * Passes on server-sent events as they come. The event that ends the answer waits until the call is recorded.
 *
 * @throws Error when either side breaks off
 */
export async function relayEvents(answer: RelayedAnswer, reader: StreamReader): Promise<void> {
  const { call, upstream, client } = answer;
  const decoder = new StringDecoder('utf8');
  const frames = new SseFrames();
  let isFinished = false;
  const read = (found: readonly SseFrame[]) => {
    for (const { event, raw, isUnreadable } of found) {
      if (event) reader.add(event);
      else if (isUnreadable) reader.add({ event: null, data: raw });
    }
  };
  const pass = (found: readonly SseFrame[], bytes: Buffer | string): Promise<void> | undefined => {
    const shown = call.hides ? found.map((frame) => shownFrame(call, frame)).join('') : bytes;
    if (isFinished || !found.some(endsAnswer)) {
      const written = writeTo(client, shown);
      read(found);
      return written;
    }
    isFinished = true;
    read(found);
    return answer.finish(reader.finish(true)).then(() => writeTo(client, shown));
  };
  await readAnswer(upstream, (chunk) => pass(frames.add(decoder.write(chunk)), chunk));
  const rest = frames.finish();
  if (rest) await pass([rest], '');
  for (const { data } of call.hideEvent(null)) await writeTo(client, `data: ${data}\n\n`);
  if (!isFinished) await answer.finish(reader.finish(true));
  client.end();
}

function endsAnswer({ event }: SseFrame): boolean {
  return event !== null && (event.data === '[DONE]' || LAST_EVENT.test(event.event ?? ''));
}

/** Events as text; `frame` is the one that the last of them came in. */
function textOf(events: readonly SseEvent[], frame: SseFrame): string {
  return events.map((event) => (event === frame.event ? frame.raw : withData(frame, event.data))).join('');
}

function shownFrame(call: PreparedCall, frame: SseFrame): string {
  if (!frame.event) return frame.raw;
  return textOf(call.hideEvent(frame.event), frame);
}
