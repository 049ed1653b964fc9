import {
  decodeOtlpRequest,
  encodeOtlpResponse,
  type OtelSpan,
  type OtlpPartialSuccess,
  otlpSpans,
} from '@retrace/importers';
import { isJsonObject } from '@retrace/trajectory';
import type { OtlpMediaType } from '../http/records-route.js';
import { ProblemError } from '../problems/problem.js';

export interface ExportedSpans {
  readonly spans: readonly OtelSpan[];
  /** Spans without a valid trace or span id. */
  readonly numInvalid: number;
}

/**
 * Reads an `ExportTraceServiceRequest`.
 *
 * @throws ProblemError `MALFORMED_BODY`
 */
export function readOtlpBody(bytes: Buffer, mediaType: OtlpMediaType): ExportedSpans {
  const message = mediaType === 'application/json' ? parseJson(bytes) : decode(bytes);
  let numInvalid = 0;
  const spans = otlpSpans(message, () => {
    numInvalid++;
  });
  return { spans, numInvalid };
}

/** The body of an answer to a request whose spans were taken, those excepted that `partial` counts. */
export function otlpAnswer(mediaType: OtlpMediaType, partial: OtlpPartialSuccess | null): Buffer | object {
  if (mediaType === 'application/x-protobuf') return Buffer.from(encodeOtlpResponse(partial));
  if (partial === null) return {};
  // The JSON of protobuf has 64-bit integers as texts.
  return { partialSuccess: { ...partial, rejectedSpans: `${partial.rejectedSpans}` } };
}

function parseJson(bytes: Buffer): unknown {
  let message: unknown;
  try {
    message = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new ProblemError('MALFORMED_BODY', `The body is no JSON: ${(error as Error).message}`);
  }
  const fault = findFault(message);
  if (fault !== null) throw new ProblemError('MALFORMED_BODY', fault);
  return message;
}

function findFault(message: unknown): string | null {
  if (!isJsonObject(message))
    return 'The body must be an ExportTraceServiceRequest: an object with "resourceSpans"';
  const { resourceSpans = [] } = message;
  const isList = Array.isArray(resourceSpans);
  if (isList && resourceSpans.every(isJsonObject)) return null;
  return '"resourceSpans" must be a list of objects';
}

function decode(bytes: Buffer): unknown {
  try {
    return decodeOtlpRequest(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProblemError('MALFORMED_BODY', `The body is no ExportTraceServiceRequest: ${reason}`);
  }
}
