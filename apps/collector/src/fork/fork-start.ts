import type { PolicyText } from '@retrace/policy';
import type { Json } from '@retrace/trajectory';
import type { ForkedStep } from './forked-step.js';

/** How the policy that goes on writes its turns. */
export interface ForkSpeech {
  readonly text: PolicyText;
  readonly maxNewTokens: number;
  /** As `EpisodeLoops` has them, whose file imports this one. */
  readonly loops: { readonly stopStrings: readonly string[]; write(action: string): string };
}

/** Where and how an episode begins that is forked from a step of another one. */
export interface ForkStart {
  readonly point: ForkedStep;
  readonly speech: ForkSpeech;
  /** The first action; null lets the policy choose it. */
  readonly forcedAction: string | null;
  /** Seed of the environment's chance from the step on; null keeps the episode's own. */
  readonly chanceSeed: number | null;
  /** How the fork is played, for its metadata. */
  readonly description: Json;
}
