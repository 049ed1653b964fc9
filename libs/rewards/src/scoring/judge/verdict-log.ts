import { createHash } from 'node:crypto';
import { newEpisodeEvent, nowUs, parsedObject, type RewardAssigned } from '@retrace/trajectory';
import { choosePartition, type EventLog } from '@retrace/log';
import { encodeEvent } from '@retrace/trajectory/codec';
import type { JudgeVerdict } from './verdict.js';

/** `RewardAssigned.source` of verdicts. */
export const JUDGE_SOURCE = 'judge';

export interface VerdictOfEpisode {
  readonly episodeId: string;
  /** The component that asked. */
  readonly component: string;
  readonly verdict: JudgeVerdict;
}

/**
 * Appends verdicts to the log as `RewardAssigned`, so that no question is paid for twice and scores can be reproduced without the
 * judge. Resolves when they are acknowledged.
 *
 * The `seq` of a verdict is a hash of its content, so processes that score the same episode never collide, and a verdict that is
 * appended twice is one event.
 */
export async function appendVerdicts(
  log: EventLog,
  runId: string,
  verdicts: readonly VerdictOfEpisode[],
): Promise<void> {
  const byPartition = new Map<number, Uint8Array[]>();
  for (const { episodeId, component, verdict } of verdicts) {
    const partition = choosePartition(runId, episodeId, log.numPartitions('trajectories'));
    const { score, ...rest } = verdict;
    const payload: RewardAssigned = {
      step: null,
      name: component,
      value: score,
      source: JUDGE_SOURCE,
      rationale: JSON.stringify(rest),
    };
    const event = newEpisodeEvent({
      kind: 'RewardAssigned',
      logId: log.logId,
      runId,
      episodeId,
      seq: deriveSeq(payload),
      occurredAtUs: nowUs(),
      payload,
    });
    const records = byPartition.get(partition) ?? [];
    records.push(encodeEvent(event));
    byPartition.set(partition, records);
  }
  for (const [partition, records] of byPartition) await log.append('trajectories', partition, records);
}

/** The first 53 bits of a hash of the content: all that an event's `seq` can carry. */
function deriveSeq({ name, value, source, rationale }: RewardAssigned): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([name, value, source, rationale]))
    .digest();
  return Number(digest.readBigUInt64BE() >> 11n);
}

/** Verdicts among assigned rewards, without the assignments of people and other programs. */
export function listVerdicts(
  assigned: readonly Pick<RewardAssigned, 'source' | 'value' | 'rationale'>[],
): JudgeVerdict[] {
  return assigned.flatMap(({ source, value, rationale }) => {
    const verdict = source === JUDGE_SOURCE ? parsedObject(rationale) : null;
    return typeof verdict?.promptHash === 'string'
      ? [{ ...(verdict as unknown as JudgeVerdict), score: value }]
      : [];
  });
}
