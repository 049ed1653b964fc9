import type { Observation, ResetOptions, StepResult } from '@retrace/environments';

/** Facts that a server, or the table of its family, tells about its environment. */
export interface RemoteDescription {
  readonly description: string;
  /** Most actions of an episode; null where the server has no limit. */
  readonly maxSteps: number | null;
  /** Number of tasks by index; null where tasks are made from a seed. */
  readonly numTasks: number | null;
  /** Kinds of tasks; empty where there is one. */
  readonly families: readonly string[];
  /** Kind of a task by its index, where the server has the same tasks everywhere. */
  readonly familyByIndex?: (index: number) => string;
  readonly offersAnchors: boolean;
  /** Actions that `random` draws from where an observation lists none; null where there is no list. */
  readonly actions: readonly string[] | null;
}

/** One episode at a time on a server. Errors are EnvironmentSourceErrors; after one the session is closed and not used again. */
export interface RemoteSession {
  reset(options: ResetOptions): Promise<Observation>;
  step(action: string): Promise<StepResult>;
  close(): Promise<void>;
}

/** Speaks one protocol with servers. */
export interface ServerAdapter {
  /**
   * Asks whether the server is ready.
   *
   * @throws Error saying why it is not
   */
  check(url: string, signal: AbortSignal): Promise<void>;
  /** @throws EnvironmentSourceError */
  describe(url: string): Promise<RemoteDescription>;
  /** @throws EnvironmentSourceError */
  open(url: string): Promise<RemoteSession>;
  /** Closes what sessions shared, and sessions that are still open. */
  close(): void | Promise<void>;
}
