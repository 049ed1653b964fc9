import { encodeEvent } from '@retrace/trajectory/codec';
import type { EventLog } from '../event-log.js';
import type { AnyEvent, ControlEventKind, PayloadOf, RetraceEvent, StepRecorded } from '@retrace/trajectory';
import { sealEpisode } from '@retrace/trajectory';
import { episodeIdFor } from '@retrace/trajectory';
import { newControlEvent, newEpisodeEvent } from '@retrace/trajectory';
import { partitionOf } from '../partitioner.js';
import { sampleControlEvent, sampleEpisodeEvent, sampleStep } from '@retrace/trajectory/testing';

export interface EpisodeSpec {
  readonly logId: string;
  readonly runId: string;
  readonly ordinal: number;
  readonly numSteps?: number;
  readonly numTokens?: number;
  /** Fields of single steps that differ from the sample's. */
  readonly step?: (step: number) => Partial<StepRecorded>;
  readonly occurredAtUs?: number;
}

/** The events of a whole episode in order: start, steps, end. */
export function episodeEvents({
  logId,
  runId,
  ordinal,
  numSteps = 3,
  numTokens = 12,
  step: fieldsOf = () => ({}),
  occurredAtUs = Date.now() * 1000,
}: EpisodeSpec): AnyEvent[] {
  const common = { logId, runId, episodeId: episodeIdFor({ runId, ordinal }), occurredAtUs };
  const steps = Array.from({ length: numSteps }, (_, step): StepRecorded => {
    const sample = sampleStep({ step, numTokens });
    const tokenIds = sample.tokenIds.map((id) => id + ordinal);
    return { ...sample, tokenIds, keptPrefixTokens: step * numTokens, reward: step, ...fieldsOf(step) };
  });
  const started = {
    ...sampleEpisodeEvent('EpisodeStarted').payload,
    groupId: `group-${Math.floor(ordinal / 2)}`,
    groupMember: ordinal % 2,
    forkedFrom: null,
  };
  const ended = sealEpisode(steps, {
    endReason: 'truncated',
    success: ordinal % 2 === 0,
    finalObservation: `final of ${ordinal}`,
    finalTokenIds: Int32Array.of(ordinal, ordinal + 1),
    finalKeptPrefixTokens: numSteps * numTokens,
  });
  return [
    newEpisodeEvent({ ...common, kind: 'EpisodeStarted', seq: 0, payload: started }),
    ...steps.map((payload, i) => newEpisodeEvent({ ...common, kind: 'StepRecorded', seq: i + 1, payload })),
    newEpisodeEvent({ ...common, kind: 'EpisodeEnded', seq: numSteps + 1, payload: ended }),
  ] as AnyEvent[];
}

export function controlEvent<K extends ControlEventKind>(
  { logId, runId }: { readonly logId: string; readonly runId: string },
  kind: K,
  payload: Partial<PayloadOf<K>> = {},
): RetraceEvent<K> {
  const sample = sampleControlEvent(kind, payload);
  return newControlEvent<K>({ logId, runId, kind, occurredAtUs: Date.now() * 1000, payload: sample.payload });
}

/** Appends episode events to their episode's partition, control events to theirs; returns the partition and last offset. */
export async function appendEvents(
  log: EventLog,
  events: readonly AnyEvent[],
): Promise<{ readonly partition: number; readonly lastOffset: number }> {
  const [{ runId, episodeId }] = events;
  const records = events.map(encodeEvent);
  const stream = episodeId === '' ? 'control' : 'trajectories';
  const partition = episodeId === '' ? 0 : partitionOf(runId, episodeId, log.numPartitions('trajectories'));
  const { firstOffset } = await log.append(stream, partition, records);
  return { partition, lastOffset: firstOffset + records.length - 1 };
}
