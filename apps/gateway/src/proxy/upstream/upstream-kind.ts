import {
  KIND_PATHS,
  kindByAnswers,
  kindByHost,
  knownDefaults,
  NEUTRAL_SAMPLING,
  asNumber,
  asObject,
  asText,
  VERSION_PATH,
  type ModelServerKind,
  type SamplingDefaults,
} from '@retrace/chat';
import type { JsonValue } from '@retrace/client';
import { ask, type Told } from './question.js';
import type { FindTokenizer } from './find-tokenizer.js';
import type { Upstream } from './upstream.js';

/** Facts of the upstream, as far as they are known. */
export interface UpstreamFacts {
  readonly kind: ModelServerKind;
  readonly samplingDefaults: SamplingDefaults;
  /** Hash of its tokenizer, as training compares it; null = unknown. */
  readonly tokenizerHash: string | null;
}

interface KindOptions {
  /** null: found by asking the server. */
  readonly given: ModelServerKind | null;
  readonly findTokenizer: FindTokenizer;
}

/** Longest that a call waits for the answer; it is then sent as to an unknown kind. */
const PATIENCE_MS = 500;
/** Longest that a call waits until the tokenizer of a known server is found, whose file may have some megabytes. */
const TOKENIZER_PATIENCE_MS = 5_000;
/** A server that did not answer is asked again after so long. */
const REPEAT_MS = 5_000;

/** Finds out which program the upstream is, by its address or by routes that only some have, and which tokenizer it has. */
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
    const kind = options.given ?? kindByHost(upstream.url.hostname);
    this.isAsked = kind === null;
    if (kind !== null) this.known = gatherFacts(kind);
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
    return this.known ?? gatherFacts('other');
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
    const answers = await Promise.all(KIND_PATHS.map((path) => ask(this.upstream, { path })));
    this.probing = null;
    if (answers.every((answer) => answer === null)) return;
    const told = new Map(KIND_PATHS.map((path, n) => [path, answers[n] ?? {}]));
    const { kind, sign } = kindByAnswers(told);
    this.known = gatherFacts(kind, told.get(VERSION_PATH));
    this.nameTokenizer(this.known, sign);
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

/** @param version what `/version` told */
function gatherFacts(kind: ModelServerKind, version: Told = {}): UpstreamFacts {
  return {
    kind,
    samplingDefaults: { ...knownDefaults(kind), ...toldDefaults(version.sampling_defaults) },
    tokenizerHash: asText(version.tokenizer_hash),
  };
}

function toldDefaults(told: JsonValue | undefined): SamplingDefaults {
  const fields = asObject(told);
  const known = Object.keys(NEUTRAL_SAMPLING).map((name) => [name, asNumber(fields[name])] as const);
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
