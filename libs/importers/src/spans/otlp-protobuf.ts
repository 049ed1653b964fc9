import protobuf from 'protobufjs/light.js';

const { Root } = protobuf;

/**
 * The part of OpenTelemetry's protocol that traces need: messages and field numbers of `opentelemetry/proto/{collector/trace,trace,
 * resource,common}/v1` of the protocol's 1.x releases, which never change a number. Fields that are not listed are passed over.
 */
const TRACES = Root.fromJSON({
  nested: {
    ExportTraceServiceRequest: message({ resourceSpans: repeated('ResourceSpans', 1) }),
    ResourceSpans: message({ resource: field('Resource', 1), scopeSpans: repeated('ScopeSpans', 2) }),
    ScopeSpans: message({ spans: repeated('Span', 2) }),
    Resource: message({ attributes: repeated('KeyValue', 1) }),
    Span: message({
      traceId: field('bytes', 1),
      spanId: field('bytes', 2),
      parentSpanId: field('bytes', 4),
      name: field('string', 5),
      startTimeUnixNano: field('fixed64', 7),
      endTimeUnixNano: field('fixed64', 8),
      attributes: repeated('KeyValue', 9),
      droppedAttributesCount: field('uint32', 10),
      events: repeated('Event', 11),
      status: field('Status', 15),
    }),
    Event: message({
      timeUnixNano: field('fixed64', 1),
      name: field('string', 2),
      attributes: repeated('KeyValue', 3),
    }),
    Status: message({ message: field('string', 2), code: field('int32', 3) }),
    KeyValue: message({ key: field('string', 1), value: field('AnyValue', 2) }),
    AnyValue: {
      oneofs: {
        value: {
          oneof: [
            'stringValue',
            'boolValue',
            'intValue',
            'doubleValue',
            'arrayValue',
            'kvlistValue',
            'bytesValue',
          ],
        },
      },
      fields: {
        stringValue: field('string', 1),
        boolValue: field('bool', 2),
        intValue: field('int64', 3),
        doubleValue: field('double', 4),
        arrayValue: field('ArrayValue', 5),
        kvlistValue: field('KeyValueList', 6),
        bytesValue: field('bytes', 7),
      },
    },
    ArrayValue: message({ values: repeated('AnyValue', 1) }),
    KeyValueList: message({ values: repeated('KeyValue', 1) }),
    ExportTraceServiceResponse: message({ partialSuccess: field('PartialSuccess', 1) }),
    PartialSuccess: message({ rejectedSpans: field('int64', 1), errorMessage: field('string', 2) }),
    // google.rpc.Status
    Failure: message({ code: field('int32', 1), message: field('string', 2) }),
  },
});

const REQUEST = TRACES.lookupType('ExportTraceServiceRequest');
const RESPONSE = TRACES.lookupType('ExportTraceServiceResponse');
const FAILURE = TRACES.lookupType('Failure');

/** Spans that a server did not take; empty = it took all. */
export interface OtlpPartialSuccess {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

/**
 * Decodes an export request into what OTLP's JSON has: ids in hexadecimal, 64-bit integers as texts.
 *
 * @throws Error when the bytes are no such message
 */
export function decodeOtlpRequest(bytes: Uint8Array): unknown {
  const decoded = REQUEST.decode(bytes);
  const request = REQUEST.toObject(decoded, { longs: String, bytes: String, arrays: true, oneofs: false });
  return request;
}

/** Encodes the answer to an export request. */
export function encodeOtlpResponse(partial: OtlpPartialSuccess | null): Uint8Array {
  return RESPONSE.encode(RESPONSE.create(partial === null ? {} : { partialSuccess: partial })).finish();
}

/** Encodes the answer to a request that failed: a `google.rpc.Status`, whose code is one of gRPC's. */
export function encodeOtlpFailure(failure: { readonly code: number; readonly message: string }): Uint8Array {
  return FAILURE.encode(FAILURE.create(failure)).finish();
}

function message(fields: protobuf.IType['fields']): protobuf.IType {
  return { fields };
}

function field(type: string, id: number): protobuf.IField {
  return { type, id };
}

function repeated(type: string, id: number): protobuf.IField {
  return { rule: 'repeated', type, id };
}
