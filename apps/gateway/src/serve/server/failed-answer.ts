import { PolicyError } from '@retrace/policy';
import { RequestError } from '../../http/request-error.js';
import { QueueFullError, TooManyAnswersError } from '../engine/serving-engine.js';

/** The error that a client gets for any failure. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof QueueFullError) return new RequestError(message, { status: 429, code: 'queue_full' });
  if (error instanceof TooManyAnswersError) return new RequestError(message, { code: 'too_many_answers' });
  const isAsked =
    error instanceof PolicyError &&
    ['INVALID_TOKEN', 'INVALID_REQUEST', 'INVALID_BATCH', 'INVALID_FILE'].includes(error.code);
  return isAsked
    ? new RequestError(message, { code: error.code.toLowerCase() })
    : new RequestError(message, { status: 500, code: 'generation_failed' });
}
