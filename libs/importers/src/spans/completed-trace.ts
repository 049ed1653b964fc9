import type { WireRecord } from '@retrace/recording';
import type { Mapped } from '../format.js';
import { RowFault } from '../skip.js';
import type { CompletedTrace } from './open-traces.js';
import { otelTraceRecords } from './otel-trace.js';

/**
 * Turns a trace into episodes, none where no model was called in it: always the same for the same spans. A late part of a trace is an
 * episode of its own, named after its first span, whose parent is the trace's episode.
 */
export function completedTraceRecords({
  traceId,
  spans,
  isLate,
}: Pick<CompletedTrace, 'traceId' | 'spans' | 'isLate'>): Mapped {
  const ordered = [...spans].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
  try {
    if (!isLate) return otelTraceRecords(ordered, { episode: traceId, row: null });
    const { episodes, skipped } = otelTraceRecords(ordered, {
      episode: `${traceId}/late-${ordered[0].spanId}`,
      row: null,
    });
    const [[start, ...records], ...others] = episodes;
    const child: WireRecord = start.type === 'episode' ? { ...start, parentEpisode: traceId } : start;
    return { episodes: [[child, ...records], ...others], skipped };
  } catch (error) {
    if (!(error instanceof RowFault)) throw error;
    return { episodes: [], skipped: [{ code: error.code, detail: error.message, row: null }] };
  }
}
