import type { Environment, Observation } from '@retrace/environments';
import type { ChatMessage } from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';
import type { EpisodeFailure, Prompt, Turn } from './turn.js';

export interface ActRequest {
  /** The concurrent episode that asks. */
  readonly slot: number;
  readonly environment: Environment;
  readonly observation: Observation;
  readonly prompt: Prompt;
  /** The whole conversation that the prompt shows, for models that take text. */
  readonly messages: readonly ChatMessage[];
  /** A call for something else than an action, such as `summary`; null for one that is answered with an action. */
  readonly purpose: string | null;
  readonly samplingSeed: number;
  /** Takes the likeliest tokens instead of sampling. */
  readonly greedy: boolean;
}

export interface ActedTurn {
  readonly slot: number;
  readonly turn: Turn;
}

/** A turn, or why there is none. */
export type FinishedAct = ActedTurn | { readonly slot: number; readonly failure: EpisodeFailure };

/** Chooses the actions of a batch of concurrent episodes. */
export interface Actor {
  /** Recorded with each step; null for agents that do not sample tokens. */
  readonly sampling: SamplingParameters | null;
  /** Context positions that a prompt and its action may fill together. */
  readonly maxTokens: number;
  /** Whether a server answers the requests. Each leaves when the thread is free next. */
  readonly isRemote: boolean;
  request(request: ActRequest): void;
  /** Requests that `step` has not answered. */
  readonly numPending: number;
  /** Works on every pending request, and resolves with the turns that are complete. */
  step(): Promise<readonly FinishedAct[]>;
  /** Frees what is kept for the slot; called when its episode ends. */
  release(slot: number): void;
}
