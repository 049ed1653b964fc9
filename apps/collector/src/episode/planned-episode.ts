import type { SampledTask } from '@retrace/environments';
import type { Json, Split } from '@retrace/trajectory';
import type { ForkStart } from '../fork/fork-start.js';

/** One episode to play: everything that decides its content, apart from the policy. */
export interface PlannedEpisode {
  readonly episodeId: string;
  readonly group: PlannedGroup;
  readonly groupMember: number;
  readonly samplingSeed: number;
  /** Played with the likeliest tokens and never trained on; the other episodes of its group are compared with it. */
  readonly isGreedyBaseline: boolean;
  /** The step of another episode that it begins at; absent where it begins with a reset. */
  readonly fork?: ForkStart;
  /** Recorded with the episode (default null). */
  readonly metadata?: Json;
}

export interface PlannedGroup {
  readonly groupId: string;
  /** Position in the round, 0 … numGroups − 1. */
  readonly place: number;
  readonly groupSize: number;
  readonly round: number;
  readonly split: Split;
  readonly agent: string;
  readonly trainable: boolean;
  /** Task null and seed 0 where sampling failed. */
  readonly sampled: SampledTask;
  /** Why the environment gave no task; null when it did. The group's episodes then end before their first step. */
  readonly failure: string | null;
}
