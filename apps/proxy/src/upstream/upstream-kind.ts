import { text } from 'node:stream/consumers';
import { isObject } from '../protocol/json-fields.js';
import type { UpstreamKind } from '../protocol/protocol.js';
import { Cancellation } from './cancellation.js';
import type { Upstream } from './upstream.js';
import type { JsonValue } from '@retrace/client';

const PROBE_MS = 2_000;
/** Longest that a call waits for the answer; it is then sent as to an unknown kind. */
const PATIENCE_MS = 500;
/** A server that did not answer is asked again after so long. */
const REPEAT_MS = 5_000;
const OK = 200;

const KNOWN_HOSTS: Readonly<Record<string, UpstreamKind>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
};

/** Finds out which program the upstream is: by its address, or by routes that only vLLM and SGLang have. */
export class KindDetector {
  private known: UpstreamKind | null;
  private probing: Promise<UpstreamKind | null> | null = null;
  private askedAtMs = -Infinity;
  /** Requests that ask for more were refused. */
  private isPlain = false;

  constructor(
    private readonly upstream: Upstream,
    given: UpstreamKind | null,
  ) {
    this.known = given ?? KNOWN_HOSTS[upstream.url.hostname] ?? null;
  }

  /** Kind as far as it is known now. */
  get current(): UpstreamKind | null {
    return this.known;
  }

  /** The kind; `other` where it is not known soon. */
  async kind(): Promise<UpstreamKind> {
    if (this.known) return this.known;
    this.start();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS, null);
    });
    const found = await Promise.race([this.probing, patience]);
    clearTimeout(timer);
    return found ?? 'other';
  }

  /** Whether calls ask for token ids and usage in addition. */
  get asksForMore(): boolean {
    return !this.isPlain;
  }

  /** Stops to ask for more, as the upstream refuses it. */
  askNoMore(): void {
    this.isPlain = true;
  }

  /** Begins to ask the upstream, unless it was asked just now. */
  start(): void {
    if (this.known || this.probing || performance.now() - this.askedAtMs < REPEAT_MS) return;
    this.askedAtMs = performance.now();
    this.probing = this.probe().then((kind) => {
      this.known = kind;
      this.probing = null;
      return kind;
    });
  }

  /** @returns null when the upstream does not answer */
  private async probe(): Promise<UpstreamKind | null> {
    const [modelInfo, version] = await Promise.all([this.ask('/get_model_info'), this.ask('/version')]);
    if (modelInfo === null && version === null) return null;
    if (isObject(modelInfo ?? undefined) && 'model_path' in (modelInfo as object)) return 'sglang';
    return isObject(version ?? undefined) && 'version' in (version as object) ? 'vllm' : 'other';
  }

  /** @returns null when there is no answer, and {} where it is no JSON */
  private async ask(path: string): Promise<JsonValue | null> {
    const cancellation = new Cancellation();
    const timer = setTimeout(() => {
      cancellation.cancel();
    }, PROBE_MS);
    try {
      const request = { method: 'GET', path, headers: ['accept', 'application/json'] };
      const response = await this.upstream.send(request, null, cancellation);
      const body = await text(response);
      return response.statusCode === OK ? parsed(body) : {};
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  }
}

function parsed(body: string): JsonValue {
  try {
    return JSON.parse(body) as JsonValue;
  } catch {
    return {};
  }
}
