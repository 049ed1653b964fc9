import type { Json } from '@retrace/trajectory';

/** The answer of a replayed environment to an action. */
export interface ReplayedStep {
  readonly observation: string;
  readonly reward: number | null;
  readonly rewards: Readonly<Record<string, number>>;
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly parsedAction: string | null | undefined;
  readonly actionValid: boolean | undefined;
  readonly anchor: string | null;
  readonly success: boolean | null;
}

/** One episode that is played again. */
export interface ReplayedEpisode {
  readonly observation: string;
  readonly anchor: string | null;
  step(action: string): Promise<ReplayedStep>;
}

/** Knowledge of a dump about how an episode began. */
export interface ReplayStart {
  readonly task: Json | undefined;
  readonly seed: number | undefined;
  readonly member: number;
  readonly itemId: string | undefined;
  readonly observation: string;
}

/**
 * An environment that can play recorded episodes again. An implementer gives every beginning that fits what the dump knows: where
 * several do, the caller compares them and takes nothing that they disagree on.
 */
export interface ReplayEnvironment {
  readonly name: string;
  /** The part of an observation that is compared; versions of an environment differ in the rest. */
  comparable(observation: string): string;
  /** Beginnings that may be the recorded one; none where it can't be found. */
  begin(start: ReplayStart): Promise<readonly (() => Promise<ReplayedEpisode>)[]>;
  close(): Promise<void>;
}
