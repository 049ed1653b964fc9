import type {
  EpisodeAnnotated,
  EpisodeEnded,
  EpisodeStarted,
  EpisodeTotals,
  RewardAssigned,
} from '@retrace/trajectory';
import { isUuid } from '@retrace/trajectory';
import type { WireAnnotation, WireEnd, WireEpisode, WireReward, WireTime } from '../wire/episode-records.js';
import { toEpisodeId } from './episode-id.js';

/** Microseconds since the Unix epoch of a wire time, which is text of an allowed form or such a number. */
export function microseconds(time: WireTime): number {
  if (typeof time === 'number') return time;
  // `Date` knows milliseconds; the digits behind them are added.
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? '';
  return Math.max(0, Date.parse(time) * 1000 + Number(fraction.padEnd(6, '0').slice(3, 6)));
}

interface RunOfEpisode {
  readonly runId: string;
  readonly environment: string;
}

export function episodeStarted(record: WireEpisode, run: RunOfEpisode): EpisodeStarted {
  const { episode, parentEpisode = null, forkedFrom = null } = record;
  const episodeId = toEpisodeId(run.runId, episode);
  return {
    groupId: record.groupId ?? episodeId,
    groupSize: record.groupSize ?? 1,
    groupMember: record.groupMember ?? 0,
    environment: record.environment ?? run.environment,
    task: record.task ?? null,
    environmentSeed: record.environmentSeed ?? null,
    samplingSeed: record.samplingSeed ?? null,
    split: record.split ?? 'train',
    agent: record.agent ?? 'agent',
    forkedFrom: forkedFrom && {
      episodeId: toEpisodeId(run.runId, forkedFrom.episode),
      step: forkedFrom.step,
    },
    forkedFromRunId: null,
    externalId: record.externalId ?? (isUuid(episode) ? '' : episode),
    tags: record.tags ?? [],
    metadata: record.metadata ?? null,
    parentEpisodeId: parentEpisode === null ? null : toEpisodeId(run.runId, parentEpisode),
  };
}

/** @param contextTokens tokens of the context after the last step, which the final prompt keeps unless the record says otherwise */
export function episodeEnded(record: WireEnd, totals: EpisodeTotals, contextTokens: number): EpisodeEnded {
  return {
    endReason: record.endReason ?? 'terminated',
    endDetail: record.detail ?? '',
    finalObservation: record.finalObservation ?? '',
    finalTokenIds: Int32Array.from(record.finalTokens?.ids ?? []),
    finalKeptPrefixTokens: record.finalTokens?.keptPrefix ?? contextTokens,
    success: record.success ?? null,
    ...totals,
  };
}

const DEFAULT_SOURCE = 'caller';

export function rewardAssigned(record: WireReward): RewardAssigned {
  const { step = null, name, value, source = DEFAULT_SOURCE, rationale = '' } = record;
  return { step, name, value, source, rationale };
}

export function episodeAnnotated(record: WireAnnotation): EpisodeAnnotated {
  const { tags = null, metadata = null, source = DEFAULT_SOURCE } = record;
  return { tags, metadata, source };
}
