/** A run that a caller of the API asks for. */
export interface StartRequest {
  /** Name of a built-in recipe, or `run:<run>` for that of a trained run. */
  readonly recipe: string;
  readonly algorithm?: string;
  readonly numUpdates?: number;
  readonly seed?: number;
  /** `run:<run>[@<version>|@best]` */
  readonly initFrom?: string;
  /** Values by dotted path of the recipe's field. */
  readonly overrides?: Readonly<Record<string, string | number | boolean | null>>;
}

/** A question of a role to its supervisor, which alone starts and stops the processes of runs. */
export type RunControlRequest =
  | { readonly kind: 'show' }
  | { readonly kind: 'start'; readonly start: StartRequest }
  | { readonly kind: 'resume'; readonly runId: string }
  | { readonly kind: 'stop'; readonly runId: string }
  | { readonly kind: 'cancel'; readonly queueId: string };

/** A run that waits, is trained, or was trained by this server. */
export interface QueueItem {
  readonly queueId: string;
  /** Of its recipe. */
  readonly name: string;
  /** Null until the run has begun. */
  readonly runId: string | null;
  /** The request; null for a run that is resumed, and for the one that the server was started with. */
  readonly start: StartRequest | null;
  readonly status: 'queued' | 'running' | 'stopping' | 'finished' | 'stopped' | 'failed';
  /** Why it failed; '' for the others. */
  readonly detail: string;
  readonly queuedAt: string;
}

export interface RunQueueState {
  /** The run that is trained now. */
  readonly running: QueueItem | null;
  /** Those that wait, in their order. */
  readonly queued: readonly QueueItem[];
  /** Those that ended lately, newest first. */
  readonly ended: readonly QueueItem[];
}

/** The proxy that a server runs for agents. */
export interface AgentAddress {
  /** Without `/v1`. */
  readonly url: string;
  /** Name of the run that calls are recorded in. */
  readonly runName: string;
  /** Whether the policies of the data directory answer; false where another model server does. */
  readonly policiesAnswer: boolean;
}

export type RunControlCode =
  | 'INVALID_START'
  | 'QUEUE_FULL'
  | 'NOT_QUEUED'
  | 'RUN_UNKNOWN'
  | 'RUN_NOT_TRAINED'
  | 'RUN_ENDED'
  | 'RUN_ACTIVE'
  | 'RUN_NOT_TRAINING'
  | 'UNANSWERED'
  | 'UNAVAILABLE';

export type RunControlAnswer =
  /** `agents` is null where no proxy runs. */
  | { readonly ok: true; readonly queue: RunQueueState; readonly agents: AgentAddress | null }
  | { readonly ok: false; readonly code: RunControlCode; readonly message: string };

/** A message from a supervisor to a role that asked it. */
export interface SupervisorMessage {
  readonly type: 'answer';
  /** Of the question. */
  readonly id: number;
  readonly answer: RunControlAnswer;
}
