import { errorBody, type ErrorBody } from '@retrace/chat';
import { PolicyError } from '@retrace/policy';
import { QueueFullError, TooManyAnswersError } from '../engine/serving-engine.js';

interface RequestErrorFields {
  /** Field of the request that is wrong. */
  readonly param?: string;
  readonly code?: string;
  /** Default 400. */
  readonly status?: number;
}

/** A request that gets an error for an answer, in the form of OpenAI's API. */
export class RequestError extends Error {
  readonly status: number;
  private readonly param: string | null;
  private readonly code: string | null;

  constructor(message: string, { param, code, status = 400 }: RequestErrorFields = {}) {
    super(message);
    this.name = 'RequestError';
    this.status = status;
    this.param = param ?? null;
    this.code = code ?? null;
  }

  get body(): ErrorBody {
    const { message, param, code } = this;
    return errorBody({ message, type: typeOf(this.status), param, code });
  }
}

/** The error that a client gets for any failure. */
export function requestErrorOf(error: unknown): RequestError {
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

function typeOf(status: number): string {
  if (status === 401 || status === 403) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
