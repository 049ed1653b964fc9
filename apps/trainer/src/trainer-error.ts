import { FINAL_FAILURE_EXIT_CODE } from '@retrace/process';

export type TrainerErrorCode =
  /** The batch holds tokens whose behavior logprob can't be accounted for. */
  | 'UNACCOUNTED_LOGPROBS'
  /** The trainer's logprobs of fresh tokens differ from the collector's. */
  | 'NOT_ON_POLICY'
  /** The files of the last commit can't be read, and can't be made again bit for bit. */
  | 'CHECKPOINT_LOST'
  /** Another trainer claimed the run. */
  | 'CLAIM_LOST'
  /** The code of the rewards is not what a plan was made with. */
  | 'REWARDS_CHANGED'
  | 'RUN_UNKNOWN'
  | 'UPDATE_UNKNOWN'
  /** The weights of the reference policy or of the teacher, which a replay needs, can't be read. */
  | 'NOT_REPLAYABLE'
  /** The baseline that the estimator compares with was not collected. */
  | 'NO_GREEDY_BASELINE'
  /** The policy that preferences are relative to is not published. */
  | 'NO_REFERENCE'
  /** The teacher of the recipe can't judge the policy's tokens, or is no longer what it was. */
  | 'TEACHER_REFUSED'
  /** The server of the teacher did not answer until its deadline. */
  | 'TEACHER_UNAVAILABLE'
  /** The rewards can be had of the run's own episodes only, and the recipe trains on others. */
  | 'REWARD_NEEDS_OWN_EPISODES'
  /** Episodes of a plan that is in the log lack events which won't come, or so do all episodes there are to plan with. */
  | 'EPISODES_LOST'
  /** An episode in the store is not what the update was computed from. */
  | 'EPISODES_CHANGED'
  /** The recipe reads what only a store has, and there is none. */
  | 'STORE_NEEDED'
  /** A batch needs the policy's view of its tokens, and there is no policy. */
  | 'ENGINE_NEEDED'
  /** Updates of this kind train on no batch of tokens with advantages. */
  | 'BATCH_UNSUPPORTED'
  | 'NON_FINITE_LOSS'
  /** More optimizer steps in a row were skipped than the recipe allows. */
  | 'STEPS_SKIPPED'
  /** A process that computes a part of the gradients ended, or has another model. */
  | 'WORKER_LOST'
  /** The process that makes the gradients can't be started or reached. */
  | 'ENGINE_UNAVAILABLE'
  /** It refused a call: what was asked for it can't honour. */
  | 'ENGINE_REFUSED'
  /** It ended, or is another one: what it had since the last saved state is gone. */
  | 'ENGINE_LOST';

/** Another start would end in the same way. */
const FINAL: ReadonlySet<TrainerErrorCode> = new Set([
  'REWARD_NEEDS_OWN_EPISODES',
  'STORE_NEEDED',
  'TEACHER_REFUSED',
]);

export class TrainerError extends Error {
  readonly retriable = false;
  constructor(
    readonly code: TrainerErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'TrainerError';
  }

  /** Of a process that this error ends. */
  get exitCode(): number {
    return FINAL.has(this.code) ? FINAL_FAILURE_EXIT_CODE : 1;
  }
}

/** Whether an engine ended, so that another one can be opened in the last saved state. */
export function isEngineLost(error: unknown): error is TrainerError {
  return error instanceof TrainerError && error.code === 'ENGINE_LOST';
}
