import { RowFault, type Skip } from '../skip.js';
import type { WireRecord } from '@retrace/recording';
import { otelTraceRecords } from './otel-trace.js';
import type { OtelSpan } from './otel-span.js';

export interface OpenTracesOptions {
  /** Time without a new span after which a trace without ended root counts as complete. */
  readonly quietMs: number;
  /** Time that late spans have after the root has ended. */
  readonly settleMs: number;
  /** Most spans of all open traces; the trace that was quiet longest is completed to make room. */
  readonly maxSpans: number;
  /** Most characters of their attributes, likewise. */
  readonly maxCharacters: number;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number;
}

/** A trace that is complete, as episodes; none where no model was called in it. */
export interface CompletedTrace {
  readonly traceId: string;
  readonly numSpans: number;
  readonly episodes: readonly (readonly WireRecord[])[];
  readonly skipped: readonly Skip[];
}

interface OpenTrace {
  readonly spans: OtelSpan[];
  characters: number;
  lastSpanMs: number;
  rootEndedMs: number | null;
}

/** Traces that are remembered after their end, so that a span that comes later still becomes a part of them. */
const MAX_REMEMBERED = 50_000;

/**
 * Gathers the spans of traces that are still running, in whatever order they come. A trace is complete some time after its root span
 * ended, or when no span of it has come for longer. Spans that come even later become an episode of their own, whose parent is the
 * trace's. State is bounded: before it grows too large, the trace that was quiet longest is completed.
 */
export class OpenTraces {
  private readonly open = new Map<string, OpenTrace>();
  /** Number of parts that each completed trace has, by trace; oldest first. */
  private readonly completed = new Map<string, number>();
  private numSpans = 0;
  private characters = 0;

  constructor(private readonly options: OpenTracesOptions) {}

  /** Takes spans and returns the traces that had to be completed to make room for them. */
  add(spans: readonly OtelSpan[]): readonly CompletedTrace[] {
    const done: CompletedTrace[] = [];
    const nowMs = this.options.nowMs();
    for (const span of spans) {
      const trace = this.open.get(span.traceId) ?? {
        spans: [],
        characters: 0,
        lastSpanMs: 0,
        rootEndedMs: null,
      };
      // The map is in the order of the last span, so the first trace is the one that was quiet longest.
      this.open.delete(span.traceId);
      this.open.set(span.traceId, trace);
      const characters = charactersOf(span);
      trace.spans.push(span);
      trace.characters += characters;
      trace.lastSpanMs = nowMs;
      if (span.parentId === null && span.endUs !== undefined) trace.rootEndedMs ??= nowMs;
      this.numSpans++;
      this.characters += characters;
      while (this.numSpans > this.options.maxSpans || this.characters > this.options.maxCharacters) {
        const [oldest] = this.open.keys();
        done.push(this.complete(oldest));
      }
    }
    return done;
  }

  /** Returns the traces that are complete by now. */
  takeComplete(): readonly CompletedTrace[] {
    const { nowMs, quietMs, settleMs } = this.options;
    const now = nowMs();
    const ids = [...this.open].flatMap(([id, { lastSpanMs, rootEndedMs }]) =>
      now - lastSpanMs >= quietMs || (rootEndedMs !== null && now - lastSpanMs >= settleMs) ? [id] : [],
    );
    return ids.map((id) => this.complete(id));
  }

  /** Returns all traces, complete or not: the process ends. */
  takeAll(): readonly CompletedTrace[] {
    return [...this.open.keys()].map((id) => this.complete(id));
  }

  /** Number of spans that are held. */
  get size(): number {
    return this.numSpans;
  }

  private complete(traceId: string): CompletedTrace {
    const trace = this.open.get(traceId);
    const spans = trace?.spans ?? [];
    this.open.delete(traceId);
    this.numSpans -= spans.length;
    this.characters -= trace?.characters ?? 0;
    const part = this.completed.get(traceId) ?? 0;
    this.completed.delete(traceId);
    this.completed.set(traceId, part + 1);
    if (this.completed.size > MAX_REMEMBERED) {
      const [oldest] = this.completed.keys();
      this.completed.delete(oldest);
    }
    return { traceId, numSpans: spans.length, ...episodesOf(spans, traceId, part) };
  }
}

/** Episodes of the spans of a trace; those of a later part name the trace's episode as their parent. */
function episodesOf(
  spans: readonly OtelSpan[],
  traceId: string,
  part: number,
): Pick<CompletedTrace, 'episodes' | 'skipped'> {
  try {
    const episode = part === 0 ? traceId : `${traceId}/late-${part}`;
    const mapped = otelTraceRecords(spans, { episode, row: null });
    if (part === 0) return mapped;
    const [first, ...others] = mapped.episodes;
    const [start, ...records] = first;
    const child: WireRecord = start.type === 'episode' ? { ...start, parentEpisode: traceId } : start;
    return { episodes: [[child, ...records], ...others], skipped: mapped.skipped };
  } catch (error) {
    if (!(error instanceof RowFault)) throw error;
    return { episodes: [], skipped: [{ code: error.code, detail: error.message, row: null }] };
  }
}

function charactersOf({ name, attributes, events }: OtelSpan): number {
  let sum = name.length + 200;
  for (const bag of [attributes, ...events.map((event) => event.attributes)]) {
    for (const [key, value] of Object.entries(bag)) {
      sum += key.length + (typeof value === 'string' ? value.length : JSON.stringify(value).length);
    }
  }
  return sum;
}
