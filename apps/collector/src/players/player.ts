import type { EpisodeLimits } from '@retrace/config';
import type { PolicyText } from '@retrace/policy';
import type { Actor } from '../turn/actor.js';
import type { EpisodeLoops } from '../loop/episode-loop.js';

/** Who plays episodes outside a training run: the actor, and everything between it and an environment. */
export interface Player {
  readonly actor: Actor;
  readonly text: PolicyText;
  /** Most tokens of a turn. */
  readonly maxNewTokens: number;
  readonly loops: EpisodeLoops;
  readonly limits: EpisodeLimits;
  /** Recorded with each episode: `policy`, or the name of a scripted agent. */
  readonly agent: string;
  /** Which policy it is, such as `run:<id>@<version>`; equal descriptions are the same one. Recorded as the model of each step. */
  readonly description: string;
  /** Server that samples, recorded as the engine of each step; null where this process does. */
  readonly server: string | null;
  /** Whether the tokens of its steps are those that the model read and wrote. */
  readonly hasOwnTokens: boolean;
  /** Run and version of a stored policy; null for others. */
  readonly source: { readonly runId: string; readonly policyVersion: number } | null;
  /** Frees its weights and caches. */
  close(): void;
}
