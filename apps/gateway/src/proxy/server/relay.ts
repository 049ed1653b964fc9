import type { IncomingMessage, ServerResponse } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import {
  parsedObject,
  eventText,
  SseFrames,
  withData,
  type RecordedCall,
  type SseEvent,
  type SseFrame,
  type StreamReader,
} from '@retrace/chat';
import type { JsonObject } from '@retrace/client';
import { writeTo } from '../../http/client-stream.js';
import type { PreparedCall } from '../asking/prepared-call.js';
import type { KeyMask } from '../upstream/key-mask.js';
import { readAnswer } from '../upstream/read-answer.js';

/** An answer on its way from the upstream to the client. */
export interface RelayedAnswer {
  readonly call: PreparedCall;
  readonly upstream: IncomingMessage;
  readonly client: ServerResponse;
  /** Hides the proxy's key in it. */
  readonly mask: KeyMask | null;
  /** Most bytes of an answer in one piece, and of one event of a stream, that are held to be recorded. */
  readonly maxBytes: number;
  /** Records the call. Resolves when the client may have the end of its answer. */
  readonly finish: (call: RecordedCall) => Promise<void>;
}

const MAX_ERROR_CHARACTERS = 2_000;
const LAST_EVENT = /^(message_stop|response\.(completed|failed|incomplete))$/;
/** A stream may be longer than an answer in one piece: most of it is the frame of each token, which is not held. */
const STREAM_FACTOR = 4;
const MIB = 1024 ** 2;

/**
 * Passes on an answer that comes as a whole. Its last bytes wait until the call is recorded; all of it does where something must be
 * hidden in it. An answer that is larger than what is held is recorded as cut off, and passes as it is.
 *
 * @throws Error when either side breaks off
 */
export async function relayWhole(answer: RelayedAnswer): Promise<void> {
  const { call, upstream, client, maxBytes } = answer;
  /** Bytes that are read for the record; null once there are too many of them. */
  let chunks: Buffer[] | null = [];
  let size = 0;
  /** Number of the chunks that the client has. */
  let numPassed = 0;
  const waiting = () => Buffer.concat(chunks?.slice(numPassed) ?? []);
  await readAnswer(upstream, answer.mask, (chunk) => {
    if (chunks === null) return writeTo(client, chunk);
    const before = call.hides ? '' : waiting();
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) {
      const shown = waiting();
      chunks = null;
      return answer.finish(tooLarge(call.reader(), maxBytes)).then(() => writeTo(client, shown));
    }
    if (!call.hides) numPassed = chunks.length - 1;
    return writeTo(client, before);
  });
  if (chunks !== null) {
    const status = upstream.statusCode ?? 0;
    const text = Buffer.concat(chunks).toString();
    const body = parsedObject(text);
    await answer.finish(call.read({ status, body: body ?? unreadBody(status, text) }));
    const isShown = !call.hides || body === null || status >= 400;
    await writeTo(client, isShown ? waiting() : JSON.stringify(call.hide(body)));
  }
  client.end();
}

/** The text of a failure that is not JSON, such as a gateway's page. */
function unreadBody(status: number, text: string): JsonObject {
  return status >= 400 ? { error: { message: text.slice(0, MAX_ERROR_CHARACTERS) } } : {};
}

/** Makes the record of an answer that is too large, as far as it was read. */
function tooLarge(reader: StreamReader, maxBytes: number): RecordedCall {
  const limit = `${Math.round((maxBytes / MIB) * 100) / 100} MiB`;
  return {
    ...reader.finish(false),
    isCut: true,
    hole: `the answer has more than ${limit}, and was not read on`,
  };
}

/**
 * Passes on server-sent events as they come. The event that ends the answer waits until the call is recorded.
 *
 * @throws Error when either side breaks off
 */
export async function relayEvents(answer: RelayedAnswer, reader: StreamReader): Promise<void> {
  await new EventRelay(answer, reader).run();
}

class EventRelay {
  private readonly decoder = new StringDecoder('utf8');
  private readonly frames = new SseFrames();
  private numBytes = 0;
  /** Whether the call is recorded. */
  private isFinished = false;
  /** Whether the rest passes as it comes. */
  private isUnread = false;

  constructor(
    private readonly answer: RelayedAnswer,
    private readonly reader: StreamReader,
  ) {}

  async run(): Promise<void> {
    const { call, upstream, client, mask } = this.answer;
    await readAnswer(upstream, mask, (chunk) => this.take(chunk));
    const rest = this.frames.finish();
    if (rest) await this.pass([rest], '');
    for (const { data } of call.hideEvent(null)) await writeTo(client, eventText(data));
    if (!this.isFinished) await this.finish(this.reader.finish(true));
    client.end();
  }

  private take(chunk: Buffer): Promise<void> | undefined {
    const { client, call, maxBytes } = this.answer;
    // A character may have begun in the chunk before.
    if (this.isUnread) return writeTo(client, call.hides ? this.decoder.write(chunk) : chunk);
    this.numBytes += chunk.length;
    const passing = this.pass(this.frames.add(this.decoder.write(chunk)), chunk);
    const isTooLarge = this.frames.heldCharacters > maxBytes || this.numBytes > STREAM_FACTOR * maxBytes;
    if (!isTooLarge) return passing;
    this.isUnread = true;
    const held = this.frames.finish()?.raw ?? '';
    const before = call.hideEvent(null).map(({ data }) => eventText(data));
    const shown = call.hides ? `${before.join('')}${held}` : '';
    const recorded = this.isFinished
      ? passing
      : Promise.resolve(passing).then(() => this.finish(tooLarge(this.reader, maxBytes)));
    return Promise.resolve(recorded).then(() => writeTo(client, shown));
  }

  /** @param bytes the same as it came */
  private pass(found: readonly SseFrame[], bytes: Buffer | string): Promise<void> | undefined {
    const { call, client } = this.answer;
    const shown = call.hides ? found.map((frame) => shownFrame(call, frame)).join('') : bytes;
    if (this.isFinished || !found.some(endsAnswer)) {
      const written = writeTo(client, shown);
      this.read(found);
      return written;
    }
    this.read(found);
    return this.finish(this.reader.finish(true)).then(() => writeTo(client, shown));
  }

  private read(found: readonly SseFrame[]): void {
    for (const { event, raw, isUnreadable } of found) {
      if (event) this.reader.add(event);
      else if (isUnreadable) this.reader.add({ event: null, data: raw });
    }
  }

  private finish(call: RecordedCall): Promise<void> {
    this.isFinished = true;
    return this.answer.finish(call);
  }
}

function endsAnswer({ event }: SseFrame): boolean {
  return event !== null && (event.data === '[DONE]' || LAST_EVENT.test(event.event ?? ''));
}

/** Events as text; `frame` is the one that the last of them came in. */
function joinText(events: readonly SseEvent[], frame: SseFrame): string {
  return events.map((event) => (event === frame.event ? frame.raw : withData(frame, event.data))).join('');
}

function shownFrame(call: PreparedCall, frame: SseFrame): string {
  if (!frame.event) return frame.raw;
  return joinText(call.hideEvent(frame.event), frame);
}
