import type { StepResult, Observation } from '@retrace/environments';
import type { Json } from '@retrace/trajectory';

/** Version of the protocol; another one is another protocol. */
export const PROTOCOL_VERSION = 1;

/** A request; `id` is returned with its answer, and answers come in any order. */
export type Request =
  | { readonly type: 'hello'; readonly protocol: number }
  | {
      readonly type: 'reset';
      readonly episode: string;
      readonly task: Json;
      readonly seed: number;
      readonly member: number;
      readonly options: Json;
    }
  | { readonly type: 'step'; readonly episode: string; readonly action: string }
  | { readonly type: 'close'; readonly episode: string };

/** The server's description of its environment. */
export interface Hello {
  readonly protocol: number;
  readonly name: string;
  readonly description: string;
  readonly maxSteps: number | null;
  readonly numTasks: number | null;
  readonly families: readonly string[];
  readonly offersAnchors: boolean;
  readonly actions: readonly string[] | null;
}

export type ErrorCode =
  /** A message that is no JSON, or breaks the protocol. */
  | 'INVALID_MESSAGE'
  /** The server speaks another version. */
  | 'UNSUPPORTED_PROTOCOL'
  /** No episode of that name on this connection, or none that goes on. */
  | 'EPISODE_UNKNOWN'
  /** The environment cannot be reset with this task. */
  | 'INVALID_TASK'
  /** The server takes no more episodes. */
  | 'CAPACITY_REACHED'
  /** The environment took longer than the server's time limit. */
  | 'TIMEOUT'
  /** The environment failed. */
  | 'ENVIRONMENT_FAILED';

export type HostAnswer =
  | ({ readonly type: 'hello' } & Hello)
  | { readonly type: 'observation'; readonly observation: Observation }
  | { readonly type: 'result'; readonly result: StepResult }
  | { readonly type: 'closed' }
  | { readonly type: 'error'; readonly code: ErrorCode; readonly message: string };
