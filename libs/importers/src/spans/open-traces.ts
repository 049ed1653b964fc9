import type { OtelSpan } from './otel-span.js';

export interface OpenTracesOptions {
  /** Time without a new span after which a trace without ended root counts as complete. */
  readonly idleMs: number;
  /** Time that late spans have after the root has ended. */
  readonly settleMs: number;
  /** Most spans of all open traces; the trace that was quiet longest is completed to make room. */
  readonly maxSpans: number;
  /** Most characters of their attributes, likewise. */
  readonly maxCharacters: number;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number;
}

/** Spans that came together, and whom they belong to. */
export interface ArrivedSpans {
  /** Traces of different scopes are different, whatever their ids. */
  readonly scope: string;
  readonly spans: readonly OtelSpan[];
  /** A number that never falls, such as that of the file which has the spans. */
  readonly mark: number;
}

/** A trace that is complete, or the part of it that came after it was. */
export interface CompletedTrace {
  readonly scope: string;
  readonly traceId: string;
  readonly isLate: boolean;
  /** Each once, in the order in which they came. */
  readonly spans: readonly OtelSpan[];
  /** Rough size. */
  readonly characters: number;
  /** The lowest mark of its spans. */
  readonly mark: number;
}

interface OpenTrace {
  readonly scope: string;
  readonly traceId: string;
  readonly spans: Map<string, OtelSpan>;
  readonly mark: number;
  characters: number;
  lastSpanMs: number;
  hasEndedRoot: boolean;
}

/** Spans of completed traces whose ids are remembered, so that one that is sent again is known. */
const MAX_REMEMBERED_SPANS = 200_000;

/**
 * Gathers the spans of traces that are still running, in whatever order they come; a span that comes again counts once. A trace is complete
 * some time after its root span ended, or when no span of it has come for longer. Spans that come even later are a late part of it.
 * State is bounded: before it grows too large, the trace that was quiet longest is completed.
 */
export class OpenTraces {
  /** In the order of the last span, so the first trace is the one that was quiet longest. */
  private readonly open = new Map<string, OpenTrace>();
  /** Ids of the spans of completed traces, by trace; oldest first. */
  private readonly completed = new Map<string, Set<string>>();
  private numRemembered = 0;
  private numSpans = 0;
  private characters = 0;

  constructor(private readonly options: OpenTracesOptions) {}

  /** Takes spans and returns the traces that had to be completed to make room for them. */
  add(arrived: ArrivedSpans): readonly CompletedTrace[] {
    const done: CompletedTrace[] = [];
    for (const span of arrived.spans) {
      if (!this.has(arrived.scope, span)) this.put(span, arrived);
      while (this.numSpans > this.options.maxSpans || this.characters > this.options.maxCharacters) {
        const [oldest] = this.open.values();
        done.push(this.complete(oldest));
      }
    }
    return done;
  }

  /** Takes spans that were there before a restart; what is too much for the bounds is completed with the next `add`. */
  restore(arrived: ArrivedSpans): void {
    for (const span of arrived.spans) if (!this.has(arrived.scope, span)) this.put(span, arrived);
  }

  /** Whether a span has come before; one that had not ended then counts as new when it has. */
  has(scope: string, { traceId, spanId, endUs }: OtelSpan): boolean {
    const key = scope + traceId;
    if (this.completed.get(key)?.has(spanId) === true) return true;
    const known = this.open.get(key)?.spans.get(spanId);
    return known !== undefined && (known.endUs !== undefined || endUs === undefined);
  }

  /** Returns the traces that are complete by now. */
  takeComplete(): readonly CompletedTrace[] {
    const { nowMs, idleMs, settleMs } = this.options;
    const now = nowMs();
    return [...this.open.values()]
      .filter(({ lastSpanMs, hasEndedRoot }) => now - lastSpanMs >= (hasEndedRoot ? settleMs : idleMs))
      .map((trace) => this.complete(trace));
  }

  /** The spans of an open trace whose root has ended; null of one that goes on, or is not open. */
  endedSpans(scope: string, traceId: string): readonly OtelSpan[] | null {
    const trace = this.open.get(scope + traceId);
    return trace?.hasEndedRoot === true ? [...trace.spans.values()] : null;
  }

  /** Completes the traces with spans of this mark, or a lower one. */
  takeMarked(mark: number): readonly CompletedTrace[] {
    return [...this.open.values()].filter((trace) => trace.mark <= mark).map((trace) => this.complete(trace));
  }

  /** Completes a trace with only these of its spans; the others stay open. null when it has none of them. */
  takeSpans(scope: string, traceId: string, spanIds: ReadonlySet<string>): CompletedTrace | null {
    const trace = this.open.get(scope + traceId);
    if (trace === undefined) return null;
    const others = [...trace.spans.values()].filter(({ spanId }) => !spanIds.has(spanId));
    if (others.length === trace.spans.size) return null;
    for (const { spanId } of others) trace.spans.delete(spanId);
    this.numSpans -= others.length;
    const completed = this.complete(trace);
    for (const span of others) this.put(span, { scope, mark: trace.mark });
    return completed;
  }

  /** Number of spans that are held. */
  get size(): number {
    return this.numSpans;
  }

  get numTraces(): number {
    return this.open.size;
  }

  /** The lowest mark of a span that is held; null when there is none. */
  get lowestMark(): number | null {
    let lowest: number | null = null;
    for (const { mark } of this.open.values()) lowest = Math.min(lowest ?? mark, mark);
    return lowest;
  }

  private put(span: OtelSpan, { scope, mark }: Omit<ArrivedSpans, 'spans'>): void {
    const { traceId, spanId, parentId, endUs } = span;
    const key = scope + traceId;
    const trace = this.open.get(key) ?? newTrace(scope, traceId, mark);
    this.open.delete(key);
    this.open.set(key, trace);
    const characters = countCharacters(span);
    if (!trace.spans.has(spanId)) this.numSpans++;
    trace.spans.set(spanId, span);
    trace.characters += characters;
    this.characters += characters;
    trace.lastSpanMs = this.options.nowMs();
    trace.hasEndedRoot ||= parentId === null && endUs !== undefined;
  }

  private complete({ scope, traceId, spans, characters, mark }: OpenTrace): CompletedTrace {
    const key = scope + traceId;
    this.open.delete(key);
    this.numSpans -= spans.size;
    this.characters -= characters;
    const isLate = this.completed.has(key);
    this.remember(key, spans.keys());
    return { scope, traceId, isLate, spans: [...spans.values()], characters, mark };
  }

  private remember(key: string, spanIds: Iterable<string>): void {
    const known = this.completed.get(key) ?? new Set<string>();
    this.completed.delete(key);
    this.completed.set(key, known);
    this.numRemembered -= known.size;
    for (const id of spanIds) known.add(id);
    this.numRemembered += known.size;
    while (this.numRemembered > MAX_REMEMBERED_SPANS && this.completed.size > 1) {
      const [[oldest, ids]] = this.completed;
      this.completed.delete(oldest);
      this.numRemembered -= ids.size;
    }
  }
}

function newTrace(scope: string, traceId: string, mark: number): OpenTrace {
  return { scope, traceId, spans: new Map(), mark, characters: 0, lastSpanMs: 0, hasEndedRoot: false };
}

function countCharacters({ name, attributes, events }: OtelSpan): number {
  let sum = name.length + 200;
  for (const bag of [attributes, ...events.map((event) => event.attributes)]) {
    for (const [key, value] of Object.entries(bag)) {
      sum += key.length + (typeof value === 'string' ? value.length : JSON.stringify(value).length);
    }
  }
  return sum;
}
