import { asObject, asObjects, isJsonObject } from '@retrace/chat';
import { exactInteger, rememberWritten, writeJson } from '@retrace/rows';
import { type Fields, isMissing, looseText } from '../fields.js';
import { timeOfNanoseconds } from '../time.js';
import type { Attributes, OtelSpan } from './otel-span.js';

const STATUS_ERROR = 2;
/** Deepest nesting of an attribute's value. */
const MAX_DEPTH = 50;

/**
 * Returns the spans of an OTLP message in JSON, or decoded from protobuf; what is no span is left out.
 *
 * @param onInvalid called for each span without a valid id
 */
export function otlpSpans(message: unknown, onInvalid: () => void = () => undefined): readonly OtelSpan[] {
  if (!isJsonObject(message)) return [];
  return asObjects(message.resourceSpans ?? message.resource_spans).flatMap((resourceSpans) => {
    const resource = isJsonObject(resourceSpans.resource)
      ? readAttributes(resourceSpans.resource.attributes)
      : {};
    const service = looseText(resource['service.name']) ?? '';
    const scopes =
      resourceSpans.scopeSpans ?? resourceSpans.scope_spans ?? resourceSpans.instrumentationLibrarySpans;
    return asObjects(scopes).flatMap((scope) =>
      asObjects(scope.spans).flatMap((span) => {
        const read = findSpan(span, service);
        if (read === null) onInvalid();
        return read ?? [];
      }),
    );
  });
}

function findSpan(span: Fields, service: string): OtelSpan | null {
  const traceId = readId(span.traceId ?? span.trace_id, 16);
  const spanId = readId(span.spanId ?? span.span_id, 8);
  if (traceId === null || spanId === null) return null;
  const status = asObject(span.status);
  return {
    traceId,
    spanId,
    parentId: readId(span.parentSpanId ?? span.parent_span_id, 8),
    name: looseText(span.name) ?? '',
    startUs: timeOfNanoseconds(span.startTimeUnixNano ?? span.start_time_unix_nano),
    endUs: timeOfNanoseconds(span.endTimeUnixNano ?? span.end_time_unix_nano),
    attributes: readAttributes(span.attributes),
    ...readDropped(span.droppedAttributesCount ?? span.dropped_attributes_count),
    events: asObjects(span.events).map((event) => ({
      name: looseText(event.name) ?? '',
      attributes: readAttributes(event.attributes),
    })),
    isError: status.code === STATUS_ERROR || status.code === 'STATUS_CODE_ERROR',
    statusMessage: looseText(status.message) ?? '',
    sequence: 0,
    service,
  };
}

function readDropped(value: unknown): Pick<OtelSpan, 'numDroppedAttributes'> {
  return typeof value === 'number' && value > 0 ? { numDroppedAttributes: value } : {};
}

/** Ids are hexadecimal in OTLP's JSON; other writers of protobuf's JSON use base64. All zero and empty = none. */
function readId(value: unknown, numBytes: number): string | null {
  const text = looseText(value);
  if (text === undefined) return null;
  const hex = new RegExp(`^[0-9a-fA-F]{${2 * numBytes}}$`).test(text)
    ? text.toLowerCase()
    : Buffer.from(text, 'base64').toString('hex');
  return hex.length === 2 * numBytes && !/^0+$/.test(hex) ? hex : null;
}

function readAttributes(value: unknown): Attributes {
  const entries = asObjects(value).flatMap((entry): [string, unknown][] =>
    typeof entry.key === 'string' ? [[entry.key, readValue(entry.value, 0)]] : [],
  );
  return Object.fromEntries(entries);
}

function readValue(value: unknown, depth: number): unknown {
  if (!isJsonObject(value) || depth > MAX_DEPTH) return null;
  const integer = value.intValue ?? value.int_value;
  if (!isMissing(integer)) return readInteger(integer);
  const plain =
    value.stringValue ?? value.string_value ?? value.doubleValue ?? value.double_value ?? value.boolValue;
  if (!isMissing(plain ?? value.bool_value)) return plain ?? value.bool_value;
  const list = value.arrayValue ?? value.array_value;
  if (isJsonObject(list)) {
    const nodes = Array.isArray(list.values) ? (list.values as readonly unknown[]) : [];
    const items = asObjects(nodes).map((item) => readValue(item, depth + 1));
    return withIntegers(items, asObjects(nodes), items, (texts) => `[${texts.join(',')}]`);
  }
  const object = value.kvlistValue ?? value.kvlist_value;
  if (isJsonObject(object)) {
    const entries = asObjects(object.values);
    const items = entries.map((entry) => readValue(entry.value, depth + 1));
    const keys = entries.map(({ key }) => (typeof key === 'string' ? key : writeJson(key)));
    const made = Object.fromEntries(keys.map((key, i) => [key, items[i]]));
    const write = (texts: readonly string[]) =>
      `{${texts.map((text, i) => `${JSON.stringify(keys[i])}:${text}`).join(',')}}`;
    return withIntegers(
      made,
      entries.map((entry) => entry.value),
      items,
      write,
    );
  }
  return value.bytesValue ?? value.bytes_value ?? null;
}

/** An integer, whose 64 bits OTLP's JSON has as a text. */
function readInteger(value: unknown): unknown {
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return exactInteger(BigInt(value));
  // An object may have no text that a number could be read of.
  return typeof value === 'object' ? Number.NaN : Number(value);
}

/** Remembers of a list or an object that its integers beyond 2^53, which JavaScript has as texts, are numbers. */
function withIntegers<T extends object>(
  made: T,
  nodes: readonly unknown[],
  items: readonly unknown[],
  write: (texts: readonly string[]) => string,
): T {
  const large = nodes.map((node) => {
    const integer = isJsonObject(node) ? readInteger(node.intValue ?? node.int_value) : null;
    return typeof integer === 'string' ? integer : null;
  });
  if (large.every((integer) => integer === null)) return made;
  return rememberWritten(made, write(items.map((item, i) => large[i] ?? writeJson(item))));
}
