import { FINAL_FAILURE_EXIT_CODE } from '@retrace/process';

export type CollectorErrorCode =
  /** No policy is published yet. */
  | 'NO_POLICY'
  /** A setting of the recipe that only the running process can check. */
  | 'INVALID_SETTING'
  /** The environment, the server of the model, or an agent of the user's failed in too many episodes in a row. */
  | 'ENVIRONMENT_FAILED'
  | 'MODEL_FAILED'
  | 'AGENT_FAILED'
  /** The server's logprobs are not those of the policy version that it was given. */
  | 'WEIGHTS_DIFFER'
  /** The step that a fork would begin at is not stored, or nothing can be played from there. */
  | 'NO_FORK_POINT'
  /** The environment answered otherwise than it did when the episode was recorded. */
  | 'REPLAY_DIFFERS'
  /** The policy that is to continue an episode would see another context than the episode had. */
  | 'CONTEXT_DIFFERS'
  /** The spool file has another format, was damaged while in use, or belongs to another log. */
  | 'SPOOL_UNUSABLE';

/** Another start would end in the same way. */
const FINAL: ReadonlySet<CollectorErrorCode> = new Set([
  'ENVIRONMENT_FAILED',
  'MODEL_FAILED',
  'AGENT_FAILED',
  'INVALID_SETTING',
  'WEIGHTS_DIFFER',
]);

export class CollectorError extends Error {
  readonly retriable = false;
  constructor(
    readonly code: CollectorErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'CollectorError';
  }

  /** Of a process that this error ends. */
  get exitCode(): number {
    return FINAL.has(this.code) ? FINAL_FAILURE_EXIT_CODE : 1;
  }
}
