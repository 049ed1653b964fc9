import type { Environment, Observation } from '@retrace/environments';
import type { SamplingParameters } from '@retrace/trajectory';
import type { Prompt, Turn } from '../episode/episode-recorder.js';

export interface ActRequest {
  /** Which of the concurrent episodes asks. */
  readonly slot: number;
  readonly environment: Environment;
  readonly observation: Observation;
  readonly prompt: Prompt;
  readonly samplingSeed: number;
  /** The likeliest tokens, whatever the actor samples otherwise. */
  readonly greedy: boolean;
}

export interface FinishedAct {
  readonly slot: number;
  readonly turn: Turn;
}

/** Who chooses the actions of a batch of concurrent episodes. */
export interface Actor {
  /** Recorded with each step; null for agents that do not sample tokens. */
  readonly sampling: SamplingParameters | null;
  /** Context positions that a prompt and its action may fill together. */
  readonly maxTokens: number;
  request(request: ActRequest): void;
  /** Requests that have not come back from `step`. */
  readonly numPending: number;
  /** One round of work for every pending request; returns the turns that are complete. */
  step(): Promise<readonly FinishedAct[]>;
  /** The slot's episode ended: what was kept for it may go. */
  release(slot: number): void;
}
