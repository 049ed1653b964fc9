import { asObject, asObjects, isJsonObject } from '@retrace/chat';
import { asFields, type Fields, known, looseNumber, looseText } from '../fields.js';
import { episodeName, type ImportFormat } from '../format.js';
import { newestVersions } from '../rows/newest-versions.js';
import { genAiNode } from '../spans/genai-node.js';
import type { OtelSpan } from '../spans/otel-span.js';
import { traceRecords } from '../spans/trace-records.js';
import { timeOfSeconds } from '../time.js';

/**
 * Spans of agent-lightning up to 0.3, one a row, as its store holds them; an attempt at a rollout is an episode. The order is that of
 * `sequence_id`, since the clocks of its proxies differ.
 */
export const agentLightning: ImportFormat = {
  name: 'agent-lightning',
  description: 'spans of agent-lightning up to 0.3',
  parquetColumns: null,
  detects: (row) => isJsonObject(row) && 'rollout_id' in row && 'span_id' in row && 'attributes' in row,
  keyOf: (row) => (isJsonObject(row) ? attemptKey(row) : null),
  map: (rows) => {
    const spans = rows.map(({ value }) => asFields(value, 'row'));
    const [first] = spans;
    const otelSpans = newestVersions(
      spans.map(readSpan),
      ({ spanId }) => spanId,
      ({ endUs }) => endUs,
    );
    return traceRecords(otelSpans.map(genAiNode), {
      episode: episodeName(attemptKey(first) ?? ''),
      environment: undefined,
      tags: [],
      metadata: known({ rolloutId: looseText(first.rollout_id), attemptId: looseText(first.attempt_id) }),
      end: null,
      row: rows[0].number,
    });
  },
};

/** Key of an attempt, which is the name of its episode; null where the row names no rollout. */
export function attemptKey(row: Fields): string | null {
  const rollout = looseText(row.rollout_id);
  return rollout === undefined ? null : `${rollout}/${looseText(row.attempt_id) ?? ''}`;
}

function readSpan(span: Fields, index: number): OtelSpan {
  const status = asObject(span.status);
  const resource = asObject(asObject(span.resource).attributes);
  return {
    traceId: looseText(span.trace_id) ?? '',
    spanId: looseText(span.span_id) ?? `row-${index}`,
    parentId: looseText(span.parent_id) ?? null,
    name: looseText(span.name) ?? '',
    startUs: timeOfSeconds(span.start_time),
    endUs: timeOfSeconds(span.end_time),
    attributes: asObject(span.attributes),
    events: asObjects(span.events).map((event) => ({
      name: looseText(event.name) ?? '',
      attributes: asObject(event.attributes),
    })),
    isError: status.status_code === 'ERROR',
    statusMessage: looseText(status.description) ?? '',
    sequence: looseNumber(span.sequence_id) ?? 0,
    service: looseText(resource['service.name']) ?? '',
  };
}
