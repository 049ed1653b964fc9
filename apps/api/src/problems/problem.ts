import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Violation } from './violations.js';

/** The kind of a problem, for programs to branch on. */
type ProblemCode =
  | 'INVALID_REQUEST'
  | 'MALFORMED_BODY'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'BODY_TOO_LARGE'
  | 'HOST_NOT_ALLOWED'
  | 'NOT_FOUND'
  | 'SQL_REFUSED'
  | 'SQL_FAILED'
  | 'SQL_LIMIT_EXCEEDED'
  | 'TOO_MANY_CLIENTS'
  | 'STORE_STARTING'
  | 'STORE_UNAVAILABLE'
  | 'LOG_UNAVAILABLE'
  | 'SHUTTING_DOWN'
  | 'INTERNAL';

const STATUS_OF: Record<ProblemCode, number> = {
  INVALID_REQUEST: 400,
  MALFORMED_BODY: 400,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BODY_TOO_LARGE: 413,
  HOST_NOT_ALLOWED: 403,
  NOT_FOUND: 404,
  SQL_REFUSED: 422,
  SQL_FAILED: 422,
  SQL_LIMIT_EXCEEDED: 422,
  TOO_MANY_CLIENTS: 429,
  STORE_STARTING: 503,
  STORE_UNAVAILABLE: 503,
  LOG_UNAVAILABLE: 503,
  SHUTTING_DOWN: 503,
  INTERNAL: 500,
};

const TITLE_OF: Record<ProblemCode, string> = {
  INVALID_REQUEST: 'Invalid request',
  MALFORMED_BODY: 'The body is not valid JSON',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be JSON',
  BODY_TOO_LARGE: 'The body is too large',
  HOST_NOT_ALLOWED: 'Host name not allowed',
  NOT_FOUND: 'Not found',
  SQL_REFUSED: 'Query not allowed',
  SQL_FAILED: 'Query failed',
  SQL_LIMIT_EXCEEDED: 'Query limit exceeded',
  TOO_MANY_CLIENTS: 'Too many clients',
  STORE_STARTING: 'The store is starting',
  STORE_UNAVAILABLE: 'The store does not answer',
  LOG_UNAVAILABLE: 'The log can not be read',
  SHUTTING_DOWN: 'The server is shutting down',
  INTERNAL: 'Internal error',
};

/** An error that is reported to the client. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly code: ProblemCode,
    detail: string,
    readonly violations: readonly Violation[] = [],
  ) {
    super(detail);
  }

  get status(): number {
    return STATUS_OF[this.code];
  }

  /** Whether the same request may succeed a moment later. */
  get retriable(): boolean {
    return this.status === 503 || this.status === 429;
  }

  toBody(instance: string): ProblemBody {
    return {
      type: `urn:retrace:problem:${this.code.toLowerCase().replaceAll('_', '-')}`,
      title: TITLE_OF[this.code],
      status: this.status,
      code: this.code,
      detail: this.message,
      instance,
      ...(this.violations.length > 0 ? { errors: this.violations } : {}),
    };
  }
}

class ViolationBody implements Violation {
  @ApiProperty({ type: String, description: 'Path of the field', example: 'limit' })
  readonly field!: string;

  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
    nullable: true,
    description: 'Value that was sent, shortened; left out when the field was missing',
  })
  readonly value!: unknown;

  @ApiProperty({ type: String, description: 'Rule that the value breaks' })
  readonly rule!: string;
}

/** Body of every error: RFC 9457 `application/problem+json`. */
export class ProblemBody {
  @ApiProperty({ type: String, example: 'urn:retrace:problem:invalid-request' })
  readonly type!: string;

  @ApiProperty({ type: String })
  readonly title!: string;

  @ApiProperty({ type: 'integer', description: 'HTTP status' })
  readonly status!: number;

  @ApiProperty({ type: String, enum: Object.keys(STATUS_OF) })
  readonly code!: ProblemCode;

  @ApiProperty({ type: String, description: 'What is wrong with this request' })
  readonly detail!: string;

  @ApiProperty({ type: String, description: 'Path of the request' })
  readonly instance!: string;

  @ApiPropertyOptional({ type: [ViolationBody], description: 'Every rule that the request breaks' })
  readonly errors?: readonly Violation[];
}
