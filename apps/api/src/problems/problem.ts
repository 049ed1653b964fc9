import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Violation } from './violations.js';

/** The kind of a problem, for programs to branch on. */
export type ProblemCode =
  | 'INVALID_REQUEST'
  | 'MALFORMED_BODY'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'BODY_TOO_LARGE'
  | 'HOST_NOT_ALLOWED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'KEY_REQUIRED'
  | 'KEY_INVALID'
  | 'SCOPE_MISSING'
  | 'RATE_LIMITED'
  | 'NOT_FOUND'
  | 'ID_AMBIGUOUS'
  | 'METHOD_NOT_ALLOWED'
  | 'RUN_EXISTS'
  | 'RUN_ENDED'
  | 'RUN_NOT_RECORDED'
  | 'EPISODE_UNKNOWN'
  | 'EPISODE_ENDED'
  | 'EPISODE_DELETED'
  | 'EPISODE_CONFLICT'
  | 'STEP_OUT_OF_ORDER'
  | 'STEP_UNKNOWN'
  | 'STEP_CONFLICT'
  | 'END_CONFLICT'
  | 'REWARD_CONFLICT'
  | 'ANNOTATION_CONFLICT'
  | 'POLICY_UNKNOWN'
  | 'POLICY_UNAVAILABLE'
  | 'UPDATE_CONFLICT'
  | 'RUN_CLAIMED'
  | 'NOTEBOOK_CONFLICT'
  | 'TOO_MANY_RECORDS_IN_FLIGHT'
  | 'TRACES_UNAVAILABLE'
  | 'QUESTIONS_UNAVAILABLE'
  | 'TOO_MANY_QUESTIONS'
  | 'NO_EPISODES'
  | 'BATCH_FAILED'
  | 'RUN_NOT_TRAINED'
  | 'RUN_NOT_TRAINING'
  | 'RUN_CONTROL_UNANSWERED'
  | 'RUN_CONTROL_UNAVAILABLE'
  | 'TOO_MANY_RUNS'
  | 'RUN_ACTIVE'
  | 'EPISODES_REFERRED_TO'
  | 'SQL_REFUSED'
  | 'SQL_FAILED'
  | 'SQL_LIMIT_EXCEEDED'
  | 'TOO_MANY_CLIENTS'
  | 'STORE_STARTING'
  | 'STORE_UNAVAILABLE'
  | 'LOG_UNAVAILABLE'
  | 'KEYS_UNAVAILABLE'
  | 'SHUTTING_DOWN'
  | 'INTERNAL';

const STATUS_OF: Record<ProblemCode, number> = {
  INVALID_REQUEST: 400,
  MALFORMED_BODY: 400,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BODY_TOO_LARGE: 413,
  HOST_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  KEY_REQUIRED: 401,
  KEY_INVALID: 401,
  SCOPE_MISSING: 403,
  RATE_LIMITED: 429,
  NOT_FOUND: 404,
  ID_AMBIGUOUS: 409,
  METHOD_NOT_ALLOWED: 405,
  RUN_EXISTS: 409,
  RUN_ENDED: 409,
  RUN_NOT_RECORDED: 409,
  EPISODE_UNKNOWN: 409,
  EPISODE_ENDED: 409,
  EPISODE_DELETED: 409,
  EPISODE_CONFLICT: 409,
  STEP_OUT_OF_ORDER: 409,
  STEP_UNKNOWN: 409,
  STEP_CONFLICT: 409,
  END_CONFLICT: 409,
  REWARD_CONFLICT: 409,
  ANNOTATION_CONFLICT: 409,
  POLICY_UNKNOWN: 409,
  POLICY_UNAVAILABLE: 503,
  UPDATE_CONFLICT: 409,
  RUN_CLAIMED: 503,
  NOTEBOOK_CONFLICT: 409,
  TOO_MANY_RECORDS_IN_FLIGHT: 429,
  TRACES_UNAVAILABLE: 503,
  QUESTIONS_UNAVAILABLE: 501,
  TOO_MANY_QUESTIONS: 429,
  NO_EPISODES: 409,
  BATCH_FAILED: 409,
  RUN_NOT_TRAINED: 409,
  RUN_NOT_TRAINING: 409,
  RUN_CONTROL_UNANSWERED: 504,
  RUN_CONTROL_UNAVAILABLE: 501,
  TOO_MANY_RUNS: 429,
  RUN_ACTIVE: 409,
  EPISODES_REFERRED_TO: 409,
  SQL_REFUSED: 422,
  SQL_FAILED: 422,
  SQL_LIMIT_EXCEEDED: 422,
  TOO_MANY_CLIENTS: 429,
  STORE_STARTING: 503,
  STORE_UNAVAILABLE: 503,
  LOG_UNAVAILABLE: 503,
  KEYS_UNAVAILABLE: 503,
  SHUTTING_DOWN: 503,
  INTERNAL: 500,
};

const TITLE_OF: Record<ProblemCode, string> = {
  INVALID_REQUEST: 'Invalid request',
  MALFORMED_BODY: 'The body can not be read',
  UNSUPPORTED_MEDIA_TYPE: 'The body is of another type than the route takes',
  BODY_TOO_LARGE: 'The body is too large',
  HOST_NOT_ALLOWED: 'Host name not allowed',
  ORIGIN_NOT_ALLOWED: 'Origin not allowed',
  KEY_REQUIRED: 'API key required',
  KEY_INVALID: 'API key not accepted',
  SCOPE_MISSING: 'Scope missing',
  RATE_LIMITED: 'Too many requests',
  NOT_FOUND: 'Not found',
  ID_AMBIGUOUS: 'The id is ambiguous',
  METHOD_NOT_ALLOWED: 'Method not allowed',
  RUN_EXISTS: 'The run exists with other content',
  RUN_ENDED: 'The run has ended for another reason',
  RUN_NOT_RECORDED: 'The run is trained here',
  EPISODE_UNKNOWN: 'The run has no such episode',
  EPISODE_ENDED: 'The episode has ended',
  EPISODE_DELETED: 'The episode was deleted',
  EPISODE_CONFLICT: 'The episode has started with other content',
  STEP_OUT_OF_ORDER: 'A step is missing',
  STEP_UNKNOWN: 'The step has not been recorded',
  STEP_CONFLICT: 'The step was recorded with other content',
  END_CONFLICT: 'The episode has ended with other content',
  REWARD_CONFLICT: 'The reward was given with other content',
  ANNOTATION_CONFLICT: 'The annotation was made with other content',
  POLICY_UNKNOWN: 'The run has not published the policy',
  POLICY_UNAVAILABLE: 'No policy can answer now',
  UPDATE_CONFLICT: 'Another update or policy has this place',
  RUN_CLAIMED: 'Another server records updates of the run',
  NOTEBOOK_CONFLICT: 'The notebook was changed elsewhere',
  TOO_MANY_RECORDS_IN_FLIGHT: 'Too many records at once',
  TRACES_UNAVAILABLE: 'Spans can not be stored',
  QUESTIONS_UNAVAILABLE: 'Questions about updates are not answered here',
  TOO_MANY_QUESTIONS: 'Too many questions about updates at once',
  NO_EPISODES: 'The run has no such episodes',
  BATCH_FAILED: 'The batch could not be made',
  RUN_NOT_TRAINED: 'The run was not trained here',
  RUN_NOT_TRAINING: 'The run is not being trained by this server',
  RUN_CONTROL_UNANSWERED: 'The supervisor has not answered in time',
  RUN_CONTROL_UNAVAILABLE: 'This server starts and stops no runs',
  TOO_MANY_RUNS: 'Too many runs wait',
  RUN_ACTIVE: 'The run has not ended',
  EPISODES_REFERRED_TO: 'Updates were trained on these episodes',
  SQL_REFUSED: 'Query not allowed',
  SQL_FAILED: 'Query failed',
  SQL_LIMIT_EXCEEDED: 'Query limit exceeded',
  TOO_MANY_CLIENTS: 'Too many clients',
  STORE_STARTING: 'The store is starting',
  STORE_UNAVAILABLE: 'The store does not answer',
  KEYS_UNAVAILABLE: 'The API keys can not be read',
  LOG_UNAVAILABLE: 'The log does not answer',
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
  @ApiPropertyOptional({ type: 'integer', description: 'Place of the record in its batch, from 0' })
  readonly index?: number;

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
