import { isJsonObject } from '@retrace/trajectory';
import { asFields } from '../fields.js';
import type { ImportFormat } from '../format.js';
import type { OtelSpan } from '../spans/otel-span.js';
import { otelTraceRecords } from '../spans/otel-trace.js';
import { otlpSpans } from '../spans/otlp-spans.js';

/** OpenTelemetry spans in OTLP's JSON, as the collector's file exporter writes them; a trace is an episode. */
export const otlp: ImportFormat = {
  name: 'otlp',
  description: 'OpenTelemetry spans of the GenAI conventions (OTLP JSON)',
  parquetColumns: null,
  detects: (row) =>
    isJsonObject(row) && (Array.isArray(row.resourceSpans) || Array.isArray(row.resource_spans)),
  expand: (row) => otlpSpans(row),
  keyOf: (span) => (isJsonObject(span) && typeof span.traceId === 'string' ? span.traceId : null),
  map: (rows) =>
    otelTraceRecords(
      rows.map(({ value }) => asFields(value, 'span') as unknown as OtelSpan),
      { row: rows[0].number },
    ),
};
