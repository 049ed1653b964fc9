import { known, looseText } from '../fields.js';
import type { Mapped } from '../format.js';
import { genAiNode } from './genai-node.js';
import type { OtelSpan } from './otel-span.js';
import { traceRecords } from './trace-records.js';

/**
 * The key of the episode that a span belongs to: its conversation where it names one, else its trace. Only the spans of one trace are
 * sure to meet, so a conversation is known by any of them.
 */
export function findConversation(spans: readonly OtelSpan[]): string | undefined {
  for (const { attributes } of spans) {
    const id = looseText(attributes['gen_ai.conversation.id']) ?? looseText(attributes['session.id']);
    if (id !== undefined) return id;
  }
  return undefined;
}

/**
 * Turns the spans of one trace into episodes; files and the live endpoint use it alike.
 *
 * @param episode id of the episode; default: the trace's id
 * @throws RowFault `NO_AGENT_TURN` when no model was called
 */
export function otelTraceRecords(
  spans: readonly OtelSpan[],
  options: { readonly episode?: string; readonly row: number | null },
): Mapped {
  const [{ traceId, service }] = spans;
  return traceRecords(uniqueSpans(spans).map(genAiNode), {
    episode: options.episode ?? traceId,
    environment: undefined,
    tags: [],
    metadata: known({
      traceId,
      conversationId: findConversation(spans),
      service: service || undefined,
    }),
    end: null,
    row: options.row,
  });
}

/** Leaves out spans that were exported twice; of two with the same id the ended one counts. */
function uniqueSpans(spans: readonly OtelSpan[]): readonly OtelSpan[] {
  const byId = new Map<string, OtelSpan>();
  for (const span of spans) {
    const earlier = byId.get(span.spanId);
    if (earlier === undefined || earlier.endUs === undefined) byId.set(span.spanId, span);
  }
  return [...byId.values()];
}
