import { hash } from 'node:crypto';
import type { EnvironmentSpec } from '@retrace/environments';
import type { PlannedEpisode, PlannedGroup } from '../episode/planned-episode.js';
import { sampleTask, type AnswerLimits } from '../environment/guarded-environment.js';
import { episodeIdFor, evaluationEpisodeIdFor, newControlEventId, type Split } from '@retrace/trajectory';

export interface RoundPlanOptions {
  readonly runId: string;
  readonly seed: number;
  readonly spec: EnvironmentSpec;
  readonly split: Split;
  readonly agent: string;
  readonly trainable: boolean;
  readonly round: number;
  readonly numGroups: number;
  /** The groups to plan, ascending; all of the round when left out. */
  readonly places?: readonly number[];
  /** Episodes of a group that are sampled. */
  readonly groupSize: number;
  /** Whether each group gets an extra greedy episode (default false). */
  readonly greedyBaseline?: boolean;
  /** Index of the first task in its split. */
  readonly firstTask: number;
  /** Ordinal of the first episode; decides only ids. */
  readonly firstOrdinal: number;
  /** Whether the ids are those of `evaluationEpisodeIdFor` (default false). */
  readonly isEvaluation?: boolean;
  /** Of the texts of a task. */
  readonly maxCharacters?: AnswerLimits['maxCharacters'];
}

/**
 * The episodes of one round, in group order. Tasks and sampling seeds follow from (seed, split, round, place), never from
 * ids, so a round that is collected again after a crash has the same content under new ids. An environment that fails to sample a task fails
 * the episodes of its group, no others.
 */
export function planRound(options: RoundPlanOptions): PlannedEpisode[] {
  const { runId, seed, spec, split, agent, trainable, round, numGroups, groupSize } = options;
  const numMembers = groupSize + Number(options.greedyBaseline ?? false);
  const places = options.places ?? Array.from({ length: numGroups }, (_, g) => g);
  const idFor = options.isEvaluation === true ? evaluationEpisodeIdFor : episodeIdFor;
  const episodes: PlannedEpisode[] = [];
  for (const g of places) {
    const sampled = sampleTask(spec, { split, index: options.firstTask + g, seed }, options);
    const group: PlannedGroup = {
      groupId: newControlEventId(),
      place: g,
      groupSize: numMembers,
      round,
      split,
      agent,
      trainable,
      sampled: sampled.ok ? sampled.value : { task: null, seed: 0 },
      failure: sampled.ok ? null : sampled.failure,
    };
    for (let member = 0; member < numMembers; member++) {
      const place = g * numMembers + member;
      episodes.push({
        episodeId: idFor({ runId, ordinal: options.firstOrdinal + episodes.length }),
        group,
        groupMember: member,
        samplingSeed: placeSeed(`${seed}/${split}/${agent}/${round}/${place}`),
        isGreedyBaseline: member >= groupSize,
      });
    }
  }
  return episodes;
}

/** 32 bits of SHA-256: independent streams for places that differ in anything. */
function placeSeed(place: string): number {
  return hash('sha256', place, 'buffer').readUInt32LE(0);
}
