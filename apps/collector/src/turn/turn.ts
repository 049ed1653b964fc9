import type { Observation } from '@retrace/environments';
import type { Json, Usage } from '@retrace/trajectory';

/** An agent's action in one turn, as token columns. */
export interface Turn {
  readonly action: string;
  readonly tokenIds: Int32Array;
  readonly logprobs: Float32Array;
  readonly rawLogprobs: Float32Array | null;
  readonly entropies: Float32Array | null;
  readonly policyVersions: Int32Array;
  readonly logprobMode: 'processed' | 'raw' | 'none';
  readonly generationMs: number;
  /** The model's message, where it is more than its text (default the text). */
  readonly output?: Json;
  /** As the model's server counted it (default null). */
  readonly usage?: Usage;
  /** Why no policy gradient may train on the turn, where its tokens do not show it. */
  readonly untrainable?: string;
}

/** Tokens of a turn that no model was asked for. */
export const NO_TURN: Turn = {
  action: '',
  tokenIds: new Int32Array(0),
  logprobs: new Float32Array(0),
  rawLogprobs: null,
  entropies: null,
  policyVersions: new Int32Array(0),
  logprobMode: 'none',
  generationMs: 0,
};

/** Input of the agent before a turn. */
export interface Prompt {
  readonly observation: Observation;
  /** Tokens appended to the context. */
  readonly tokenIds: Int32Array;
  readonly keptPrefixTokens: number;
  /** Oldest turns of a full context that the prompt left out (default none). */
  readonly numHiddenTurns?: number;
}

/** Why an episode could not go on. */
export interface EpisodeFailure {
  /** The environment, the server of the model that samples, or an agent of the user's. */
  readonly of: 'environment' | 'model' | 'agent';
  /** In words. */
  readonly reason: string;
}
