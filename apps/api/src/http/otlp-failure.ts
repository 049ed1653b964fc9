import { encodeOtlpFailure } from '@retrace/importers';
import type { ProblemError } from '../problems/problem.js';

/** Codes of gRPC, by which OTLP's exporters know failures. */
const GRPC_CODES: Readonly<Record<number, number>> = { 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14 };
const INVALID_ARGUMENT = 3;

/** The body of an answer to a protobuf request that failed. */
export function otlpFailure({ status, message }: ProblemError): Buffer {
  return Buffer.from(encodeOtlpFailure({ code: GRPC_CODES[status] ?? INVALID_ARGUMENT, message }));
}
