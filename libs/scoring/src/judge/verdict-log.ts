import { newEpisodeEvent, partitionOf, type EventLog, type RewardAssigned } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import type { AssignedReward } from '@retrace/trajectory/clickhouse';
import type { JudgeVerdict } from './verdict.js';

/** `RewardAssigned.source` of verdicts. */
export const JUDGE_SOURCE = 'judge';

export interface VerdictOfEpisode {
  readonly episodeId: string;
  /** Place among the rewards assigned to the episode. */
  readonly seq: number;
  /** The component that asked. */
  readonly component: string;
  readonly verdict: JudgeVerdict;
}

/**
 * Appends verdicts to the log as `RewardAssigned`, so that what was paid for is never asked again and scores can be
 * reproduced without the judge. Resolves when they are acknowledged.
 */
export async function appendVerdicts(
  log: EventLog,
  runId: string,
  verdicts: readonly VerdictOfEpisode[],
): Promise<void> {
  const byPartition = new Map<number, Uint8Array[]>();
  for (const { episodeId, seq, component, verdict } of verdicts) {
    const partition = partitionOf(runId, episodeId, log.numPartitions('trajectories'));
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
      seq,
      occurredAtUs: Date.now() * 1000,
      payload,
    });
    const records = byPartition.get(partition) ?? [];
    records.push(encodeEvent(event));
    byPartition.set(partition, records);
  }
  for (const [partition, records] of byPartition) await log.append('trajectories', partition, records);
}

/** The verdicts among assigned rewards; assignments of people and other programs are none. */
export function verdictsOf(assigned: readonly AssignedReward[]): JudgeVerdict[] {
  return assigned.flatMap(({ source, value, rationale }) => {
    if (source !== JUDGE_SOURCE) return [];
    try {
      const parsed = JSON.parse(rationale) as Partial<JudgeVerdict>;
      return typeof parsed.promptHash === 'string' ? [{ ...(parsed as JudgeVerdict), score: value }] : [];
    } catch {
      return [];
    }
  });
}
