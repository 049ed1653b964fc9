import {
  closeTogether,
  newEpisodeEvent,
  episodeTotals,
  isEvaluationEpisode,
  stepTotals,
  type AnyEvent,
  type ClosedGroup,
  type GroupsClosed,
  type RunState,
  type StepTotals,
} from '@retrace/trajectory';
import { collectorCursor, readRoundStarts, readRunStart, validatorCursor, type EventLog } from '@retrace/log';
import { isOwn, type Share } from './round-share.js';
import { decodeEvent, encodeEvent, peekEnvelope } from '@retrace/trajectory/codec';

interface FoundEpisode {
  readonly episodeId: string;
  readonly groupId: string;
  readonly groupSize: number;
  readonly split: GroupsClosed['split'];
  readonly partition: number;
  readonly steps: StepTotals[];
  isSealed: boolean;
}

/** A process that plays episodes of a run: one of its collectors, or its validator. */
export type RolloutProcess = Share | 'validator';

interface AbandonOptions {
  /** The process whose episodes are sealed. */
  readonly of: RolloutProcess;
  /** Ends of the partitions, taken before the control stream was read; later records are ignored. So the claim of every episode that is found is in `run`. */
  readonly ends: readonly number[];
  readonly occurredAtUs: number;
}

/**
 * Seals the episodes that a crashed process left open as abandoned, and returns the event that closes their groups, so that the
 * log accounts for every started episode; null when there are none. The round is then collected again under new ids. Only the
 * episodes of one share, or of the validator, are sealed, since other processes may be playing theirs.
 */
export async function abandonUnfinished(
  log: EventLog,
  run: RunState,
  options: AbandonOptions,
): Promise<GroupsClosed | null> {
  const episodes = await findUnclosed(log, run, options);
  for (const episode of episodes) {
    if (!episode.isSealed) await seal(log, run, episode, options);
  }
  if (episodes.length === 0) return null;
  const groups = new Map<string, FoundEpisode[]>();
  for (const episode of episodes) {
    const members = groups.get(episode.groupId);
    if (members) members.push(episode);
    else groups.set(episode.groupId, [episode]);
  }
  return closeTogether([...groups.values()].map((members) => abandonedGroup(members, run)));
}

function abandonedGroup(members: readonly FoundEpisode[], run: RunState): ClosedGroup {
  const [{ groupId, groupSize, split }] = members;
  return {
    groupId,
    round: run.groups.lastRound + 1,
    split,
    reason: 'abandoned',
    groupSize,
    episodeIds: members.map((member) => member.episodeId),
    numSteps: Int32Array.from(members, (member) => member.steps.length),
    policyVersionMin: -1,
    policyVersionMax: -1,
    trainable: false,
  };
}

/** Finds the episodes of groups that are not closed. They belong to one round, since a collector plays rounds one by one. */
async function findUnclosed(
  log: EventLog,
  run: RunState,
  { of, ends }: AbandonOptions,
): Promise<FoundEpisode[]> {
  const found = new Map<string, FoundEpisode>();
  for (const [partition, end] of ends.entries()) {
    let offset = await readMark(log, run, of, partition);
    while (offset < end) {
      const records = await log.read('trajectories', partition, offset);
      if (records.length === 0) break;
      for (const { offset: at, bytes } of records) {
        if (at >= end) break;
        if (!mayBeOf(bytes, run, of)) continue;
        const decoded = decodeEvent(bytes);
        if (decoded.ok) take(decoded.event, partition, run, found);
      }
      offset = records[records.length - 1].offset + 1;
    }
  }
  return [...found.values()].filter(({ groupId }) => of === 'validator' || isOwn(run, groupId, of));
}

/** Whether a record is of an episode of the run that the process may have played: most records are not, and reading one whole takes longer. */
function mayBeOf(bytes: Uint8Array, { runId }: RunState, of: RolloutProcess): boolean {
  const envelope = peekEnvelope(bytes);
  if (envelope?.runId !== runId) return false;
  return isEvaluationEpisode(runId, envelope.episodeId) === (of === 'validator');
}

/**
 * Offset at which the round began; for the first share, which also cleans up after shares that no longer exist, the least of all shares. Where the
 * run began for one that has begun no round.
 */
async function readMark(
  log: EventLog,
  run: RunState,
  of: AbandonOptions['of'],
  partition: number,
): Promise<number> {
  const { runId } = run;
  const runStart = await readRunStart(log, runId, partition);
  const mark = async (cursor: string) =>
    (await log.readCursor(cursor, 'trajectories', partition)) ?? runStart;
  if (of === 'validator') return mark(validatorCursor(runId));
  if (of.index > 0) return mark(collectorCursor(runId, of.index));
  const { maxShares: numShares } = run.rounds;
  const starts = await readRoundStarts(log, { runId, numShares, partition });
  return Math.min(...starts.map((start) => start ?? runStart));
}

function take(event: AnyEvent, partition: number, run: RunState, found: Map<string, FoundEpisode>): void {
  const { episodeId } = event;
  switch (event.kind) {
    case 'EpisodeStarted': {
      const { groupId, groupSize, split } = event.payload;
      if (run.hasClosed(groupId) || found.has(episodeId)) return;
      found.set(episodeId, { episodeId, groupId, groupSize, split, partition, steps: [], isSealed: false });
      return;
    }
    case 'StepRecorded': {
      const episode = found.get(episodeId);
      // A retried append may bring a step twice.
      if (episode?.steps.length === event.payload.step) episode.steps.push(stepTotals(event.payload));
      return;
    }
    case 'EpisodeEnded': {
      const episode = found.get(episodeId);
      if (episode) episode.isSealed = true;
      return;
    }
    default:
  }
}

async function seal(
  log: EventLog,
  run: RunState,
  { episodeId, partition, steps }: FoundEpisode,
  { of, occurredAtUs }: AbandonOptions,
): Promise<void> {
  const event = newEpisodeEvent({
    kind: 'EpisodeEnded',
    logId: log.logId,
    runId: run.runId,
    episodeId,
    seq: steps.length + 1,
    occurredAtUs,
    payload: {
      endReason: 'abandoned',
      endDetail: `the ${of === 'validator' ? of : 'collector'} stopped before the episode ended`,
      finalObservation: '',
      finalTokenIds: new Int32Array(0),
      finalKeptPrefixTokens: 0,
      success: null,
      ...episodeTotals(steps),
    },
  });
  await log.append('trajectories', partition, [encodeEvent(event)]);
}
