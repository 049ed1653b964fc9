import type { JsonValue } from '@retrace/client';
import { numberOf, objectOf, textOf } from '../protocol/json-fields.js';
import type { SamplingDefaults, UpstreamKind } from '../protocol/protocol.js';
import { knownDefaults, NEUTRAL_SAMPLING } from '../protocol/sampling.js';
import { ask, type Told } from './question.js';
import type { FindTokenizer } from './find-tokenizer.js';
import type { Upstream } from './upstream.js';

/** Facts of the upstream, as far as they are known. */
export interface UpstreamFacts {
  readonly kind: UpstreamKind;
  readonly samplingDefaults: SamplingDefaults;
  /** Hash of its tokenizer, as training compares it; null = unknown. */
  readonly tokenizerHash: string | null;
}

interface KindOptions {
  /** null: found by asking the server. */
  readonly given: UpstreamKind | null;
  readonly findTokenizer: FindTokenizer;
}

/** Longest that a call waits for the answer; it is then sent as to an unknown kind. */
const PATIENCE_MS = 500;
/** Longest that a call waits until the tokenizer of a known server is found, whose file may have some megabytes. */
const TOKENIZER_PATIENCE_MS = 5_000;
/** A server that did not answer is asked again after so long. */
const REPEAT_MS = 5_000;

const KNOWN_HOSTS: Readonly<Record<string, UpstreamKind>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
};

/** Finds out which program the upstream is, by its address or by routes that only vLLM, SGLang and `retrace serve` have, and which tokenizer it has. */
export class KindDetector {
  private known: UpstreamFacts | null = null;
  /** Whether the server is asked for its kind. */
  private readonly isAsked: boolean;
  private probing: Promise<void> | null = null;
  private naming: Promise<void> | null = null;
  private isNamed = false;
  private askedAtMs = -Infinity;
  /** Requests that ask for more were refused. */
  private isPlain = false;

  constructor(
    private readonly upstream: Upstream,
    private readonly options: KindOptions,
  ) {
    const kind = options.given ?? KNOWN_HOSTS[upstream.url.hostname] ?? null;
    this.isAsked = kind === null;
    if (kind !== null) this.known = factsOf(kind);
  }

  /** The facts now; null where the upstream has not answered. */
  get current(): UpstreamFacts | null {
    return this.known;
  }

  /** The facts; those of any other server where the upstream does not answer soon. */
  async facts(): Promise<UpstreamFacts> {
    this.start();
    if (this.probing) await soon(this.probing, PATIENCE_MS);
    if (this.naming) await soon(this.naming, TOKENIZER_PATIENCE_MS);
    return this.known ?? factsOf('other');
  }

  /** Whether calls ask for token ids and usage in addition. */
  get asksForMore(): boolean {
    return !this.isPlain;
  }

  /** Stops to ask for more, as the upstream refuses it. */
  askNoMore(): void {
    this.isPlain = true;
  }

  /** Asks again before the next call, as the upstream gave no answer: what starts in its place may be another server. */
  askAgain(): void {
    this.isNamed = false;
    if (this.known) this.known = { ...this.known, tokenizerHash: null };
  }

  /** Begins to ask for what is not known, unless the upstream was asked just now. */
  start(): void {
    const isAsking = this.probing !== null || this.naming !== null;
    if (isAsking || this.isNamed || performance.now() - this.askedAtMs < REPEAT_MS) return;
    this.askedAtMs = performance.now();
    if (this.isAsked) this.probing = this.probe();
    else if (this.known) this.nameTokenizer(this.known, null);
  }

  private async probe(): Promise<void> {
    const [modelInfo, version] = await Promise.all(
      ['/get_model_info', '/version'].map((path) => ask(this.upstream, { path })),
    );
    this.probing = null;
    if (modelInfo === null && version === null) return;
    const kind = kindOf(modelInfo ?? {}, version ?? {});
    this.known = factsOf(kind, version ?? {});
    this.nameTokenizer(this.known, kind === 'sglang' ? modelInfo : null);
  }

  private nameTokenizer(facts: UpstreamFacts, modelInfo: Told | null): void {
    const { kind, tokenizerHash: told } = facts;
    const isGiven = this.options.given !== null;
    const finding = this.options.findTokenizer({ kind, told, modelInfo, isGiven }).catch(() => null);
    this.naming = finding.then((hash) => {
      this.naming = null;
      if (hash === undefined) return;
      this.isNamed = true;
      this.known = { ...facts, tokenizerHash: hash };
    });
  }
}

function kindOf(modelInfo: Told, version: Told): UpstreamKind {
  if ('model_path' in modelInfo) return 'sglang';
  return 'version' in version ? 'vllm' : 'other';
}

/** @param version what `/version` told: `retrace serve` names its tokenizer there, and what it samples with */
function factsOf(kind: UpstreamKind, version: Told = {}): UpstreamFacts {
  return {
    kind,
    samplingDefaults: { ...knownDefaults(kind), ...toldDefaults(version.sampling_defaults) },
    tokenizerHash: textOf(version.tokenizer_hash),
  };
}

function toldDefaults(told: JsonValue | undefined): SamplingDefaults {
  const fields = objectOf(told);
  const known = Object.keys(NEUTRAL_SAMPLING).map((name) => [name, numberOf(fields[name])] as const);
  return Object.fromEntries(known.filter(([, value]) => value !== null));
}

/** Waits for something that does not fail, but no longer than the limit. */
async function soon(event: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([event, patience]);
  clearTimeout(timer);
}
