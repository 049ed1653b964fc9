import { errorBody, type ErrorBody } from '@retrace/chat';
import type { PageRefusal } from '@retrace/page-guard';

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
    return errorBody({ message, type: errorType(this.status), param, code });
  }
}

/** The error of a request of a foreign web page. */
export function pageError({ code, message }: PageRefusal): RequestError {
  return new RequestError(message, { status: 403, code: code.toLowerCase() });
}

function errorType(status: number): string {
  if (status === 401 || status === 403) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
