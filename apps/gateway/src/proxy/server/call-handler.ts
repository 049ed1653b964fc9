import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  parsedObject,
  hasSeveralPrompts,
  hasTokens,
  modelServer,
  withNeutralSampling,
  type LogprobMode,
  type Protocol,
  type RecordedCall,
  type StreamReader,
} from '@retrace/chat';
import type { JsonObject } from '@retrace/client';
import { prepareCall, type PreparedCall } from '../asking/prepared-call.js';
import type { CallPlace } from '../episode/episode-book.js';
import { promptKeys, type PromptKeys } from '../episode/prompt-keys.js';
import { nowUs } from '../record/now-us.js';
import { onClientGone } from '../../http/client-stream.js';
import { sendJson } from '../../http/send-answer.js';
import { Cancellation } from '../upstream/cancellation.js';
import { passedHeaders } from '../upstream/headers.js';
import { KeyMask, withoutKeys } from '../upstream/key-mask.js';
import type { UpstreamFacts } from '../upstream/upstream-kind.js';
import { keyFor, upstreamHeaders } from './pass-on.js';
import type { ProxyParts } from './proxy-parts.js';
import { relayEvents, relayWhole } from './relay.js';
import { agentKeys, headerText, readCallHeaders, type CallHeaders } from './request-headers.js';
import { upstreamErrorBody } from './upstream-error.js';

/** A request of a protocol that is recorded. */
export interface CallRequest {
  readonly request: IncomingMessage;
  readonly client: ServerResponse;
  readonly protocol: Protocol;
  readonly path: string;
  readonly episode: string | null;
  readonly bytes: Buffer;
  readonly body: JsonObject;
}

/** Longest that the end of an answer waits for the disk. */
const MAX_WAIT_FOR_DISK_MS = 250;
const BAD_GATEWAY = 502;

/** Whether a body holds one conversation of this protocol; null where it is no JSON object, or one of several prompts. */
export function recordableBody(protocol: Protocol, bytes: Buffer): JsonObject | null {
  const body = parsedObject(bytes.toString());
  return body === null || (protocol.name === 'completions' && hasSeveralPrompts(body)) ? null : body;
}

/** Passes one call on to the upstream and its answer back, and records both. Nothing of it rejects: a failure is the client's answer. */
export async function handleCall(parts: ProxyParts, asked: CallRequest): Promise<void> {
  await new HandledCall(parts, asked).run();
}

class HandledCall {
  private readonly headers: CallHeaders;
  private readonly cancellation = new Cancellation();
  /** The proxy's key, where the call is made with it. */
  private readonly key: string | null;
  private readonly startedAtMs = performance.now();
  private facts!: UpstreamFacts;
  private call!: PreparedCall;
  private keys!: PromptKeys;
  private placement!: CallPlace;
  private reader: StreamReader | null = null;
  private firstByteMs: number | null = null;
  private isRecorded = false;

  constructor(
    private readonly parts: ProxyParts,
    private readonly asked: CallRequest,
  ) {
    this.headers = readCallHeaders(asked.request.headers, asked.episode);
    onClientGone(asked.client, () => {
      this.cancellation.cancel();
    });
    this.key = keyFor(asked.request, parts.config, this.headers.hasOwnKey);
  }

  async run(): Promise<void> {
    const { detector, metrics } = this.parts;
    this.facts = await detector.facts();
    this.prepare(detector.asksForMore);
    const answering = this.send();
    // It is awaited below.
    answering.catch(() => undefined);
    // Requests that came at the same time are all passed on first.
    await nextTurn();
    this.place();
    metrics.openCalls.inc();
    try {
      const upstream = await this.answerOf(answering);
      this.firstByteMs = this.elapsedMs();
      await this.relay(upstream);
    } catch (error) {
      await this.fail(error);
    } finally {
      metrics.openCalls.dec();
      metrics.calls.inc({ protocol: this.asked.protocol.name, status: this.asked.client.statusCode });
    }
  }

  /** @param asksForMore whether the upstream is asked for more than the client asked for */
  private prepare(asksForMore: boolean): void {
    const { protocol, body } = this.asked;
    const { kind, samplingDefaults } = this.facts;
    // Messages have no tokens, so nothing is trained on them.
    const states = asksForMore && this.parts.config.neutralSampling === true && protocol.name !== 'messages';
    const stated = states && hasTokens(kind) ? withNeutralSampling(body) : body;
    const upstream = asksForMore ? kind : 'other';
    this.call = prepareCall(protocol, { body: stated, upstream, defaults: samplingDefaults });
  }

  private send(): Promise<IncomingMessage> {
    const { request, body, bytes, path } = this.asked;
    const sent = this.call.body === body ? bytes : this.ownBody(bytes);
    const { hasOwnKey } = this.headers;
    const headers = upstreamHeaders(request, this.key, { hasOwnKey, kind: this.facts.kind });
    const own = ['accept-encoding', 'identity', 'content-length', `${sent.length}`];
    const method = request.method ?? 'POST';
    return this.parts.upstream.send({ method, path, headers: [...headers, ...own] }, sent, this.cancellation);
  }

  /** The body that asks for more; the client's own where that is nested deeper than JSON can be written. */
  private ownBody(bytes: Buffer): Buffer {
    try {
      return Buffer.from(JSON.stringify(this.call.body));
    } catch {
      this.prepare(false);
      return bytes;
    }
  }

  private place(): void {
    const { recorder, runs, config } = this.parts;
    const run = runs.idOf(this.headers.run ?? config.run);
    this.keys = promptKeys(this.call.prompt, this.asked.protocol.name === 'completions');
    this.placement = recorder.place(run, this.headers.episode, this.keys);
    if (this.headers.ending) recorder.endWith(this.placement, this.headers.ending);
  }

  /** Where the upstream refuses a request that asks for more than the client did, the client's own request is sent. */
  private async answerOf(answering: Promise<IncomingMessage>): Promise<IncomingMessage> {
    const first = await answering;
    if (!this.call.hides || (first.statusCode !== 400 && first.statusCode !== 422)) return first;
    first.resume();
    this.prepare(false);
    const second = await this.send();
    if ((second.statusCode ?? BAD_GATEWAY) < 400) {
      this.parts.detector.askNoMore();
      this.parts.warn('The upstream refuses to give token ids or usage: calls are recorded without them');
    }
    return second;
  }

  private async relay(upstream: IncomingMessage): Promise<void> {
    const { call } = this;
    const { client } = this.asked;
    const isStream = /^text\/event-stream/i.test(upstream.headers['content-type'] ?? '');
    const { branch, step } = this.placement;
    const without = call.hides ? ['content-length'] : [];
    const passed = passedHeaders(upstream.rawHeaders, without);
    client.writeHead(upstream.statusCode ?? BAD_GATEWAY, upstream.statusMessage, [
      ...(this.key === null ? passed : passed.map((text) => withoutKeys(text, [this.key ?? '']))),
      ...[
        'x-retrace-run',
        branch.run,
        'x-retrace-episode',
        headerText(branch.episode),
        'x-retrace-step',
        `${step}`,
      ],
    ]);
    const finish = (recorded: RecordedCall) => this.record(recorded);
    const mask = KeyMask.of(this.key);
    const answer = { call, upstream, client, mask, maxBytes: this.parts.config.maxBodyBytes, finish };
    if (!isStream) return relayWhole(answer);
    this.reader = call.reader();
    // With its first event, where that has come, too.
    setImmediate(() => {
      client.flushHeaders();
    });
    return relayEvents(answer, this.reader);
  }

  /** Answers a client whose upstream failed, as far as it has no answer yet, and records what there is. */
  private async fail(error: unknown): Promise<void> {
    const { client } = this.asked;
    if (this.cancellation.isCancelled || client.headersSent) {
      if (!this.isRecorded) await this.record((this.reader ?? this.call.reader()).finish(false));
      client.destroy();
      return;
    }
    this.parts.detector.askAgain();
    const { status, body } = upstreamErrorBody(error);
    this.firstByteMs = null;
    await this.record(this.call.read({ status, body: body }));
    sendJson(client, status, body);
  }

  private async record(recorded: RecordedCall): Promise<void> {
    if (this.isRecorded) return;
    this.isRecorded = true;
    const written = this.parts.recorder.record(this.placement, this.withoutSecrets(recorded), {
      headers: this.headers,
      protocol: this.asked.protocol.name,
      upstream: this.facts.kind,
      tokenizerHash: this.facts.tokenizerHash,
      keys: this.keys,
      logprobMode: this.logprobMode(),
      firstByteMs: this.firstByteMs,
      generationMs: this.elapsedMs(),
      occurredAt: nowUs(),
    });
    const startedAtMs = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, MAX_WAIT_FOR_DISK_MS);
    });
    await Promise.race([written, limit]);
    clearTimeout(timer);
    this.parts.metrics.diskWait.observe((performance.now() - startedAtMs) / 1000);
  }

  /** The call without keys that the upstream repeated in an error. */
  private withoutSecrets(call: RecordedCall): RecordedCall {
    if (call.error === null) return call;
    const keys = [...agentKeys(this.asked.request.headers), ...(this.key === null ? [] : [this.key])];
    return { ...call, error: { ...call.error, message: withoutKeys(call.error.message, keys) } };
  }

  private logprobMode(): LogprobMode | null {
    return this.parts.config.logprobMode ?? modelServer(this.facts.kind).tokens?.logprobMode ?? null;
  }

  private elapsedMs(): number {
    return Math.round((performance.now() - this.startedAtMs) * 1000) / 1000;
  }
}
