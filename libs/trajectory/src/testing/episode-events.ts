import type { EpisodeEnded, EpisodeStarted, StepRecorded } from '../events/episode-events.js';
import type {
  AnyEvent,
  ControlEventKind,
  EpisodeEventKind,
  PayloadOf,
  RetraceEvent,
} from '../events/event.js';
import { sealEpisode } from './seal-episode.js';
import { episodeIdFor } from '../ids/ids.js';
import { newControlEvent, newEpisodeEvent } from '../ids/new-event.js';
import { SAMPLE_PAYLOADS, sampleStep } from './sample-payloads.js';

/** The run that an event belongs to, and the log that it is for. */
export interface RunIds {
  readonly logId: string;
  readonly runId: string;
}

/** Ids of an episode, as each of its events has them, too. */
export interface EpisodeIds extends RunIds {
  readonly episodeId: string;
}

interface Time {
  /** Microseconds since the Unix epoch; default: now. */
  readonly occurredAtUs?: number;
}

export interface EpisodeSpec extends RunIds, Time {
  /** Place of the episode in its run, from which its id follows. */
  readonly ordinal: number;
  /** Number of sample steps, default 3; not read where `steps` are given. */
  readonly numSteps?: number;
  /** Tokens of each sample step, default 12. */
  readonly numTokens?: number;
  /** Fields of single sample steps that differ from the sample's. */
  readonly step?: (step: number) => Partial<StepRecorded>;
  /** The steps, in place of samples. */
  readonly steps?: readonly StepRecorded[];
  /** Fields of the start that differ: by default two episodes form a group. */
  readonly started?: Partial<EpisodeStarted>;
  /** Fields of the end that differ from the totals of the steps. */
  readonly ended?: Partial<EpisodeEnded>;
  /** Time from one event to the next, microseconds; default 0. */
  readonly intervalUs?: number;
}

/** Builds the events of a whole episode in order: start, steps, end. */
export function episodeEvents(spec: EpisodeSpec): AnyEvent[] {
  const { logId, runId, ordinal, occurredAtUs = Date.now() * 1000, intervalUs = 0 } = spec;
  const steps = spec.steps ?? sampleSteps(spec);
  const episodeId = episodeIdFor({ runId, ordinal });
  const event = <K extends EpisodeEventKind>(kind: K, seq: number, payload: PayloadOf<K>) =>
    newEpisodeEvent({
      kind,
      logId,
      runId,
      episodeId,
      seq,
      occurredAtUs: occurredAtUs + seq * intervalUs,
      payload,
    });
  return [
    event('EpisodeStarted', 0, {
      ...SAMPLE_PAYLOADS.EpisodeStarted,
      groupId: `group-${Math.floor(ordinal / 2)}`,
      groupMember: ordinal % 2,
      forkedFrom: null,
      forkedFromRunId: null,
      ...spec.started,
    }),
    ...steps.map((payload, i) => event('StepRecorded', i + 1, payload)),
    event('EpisodeEnded', steps.length + 1, sealSample(steps, spec)),
  ] as AnyEvent[];
}

/** Builds one event of an episode, with the sample's payload but for the fields given. */
export function episodeEvent<K extends EpisodeEventKind>(
  { logId, runId, episodeId, occurredAtUs = Date.now() * 1000 }: EpisodeIds & Time,
  kind: K,
  seq: number,
  payload: Partial<PayloadOf<K>> = {},
): RetraceEvent<K> {
  return newEpisodeEvent<K>({
    kind,
    logId,
    runId,
    episodeId,
    seq,
    occurredAtUs,
    payload: { ...SAMPLE_PAYLOADS[kind], ...payload } as PayloadOf<K>,
  });
}

/** Builds a control event of a run, with the sample's payload but for the fields given. */
export function controlEvent<K extends ControlEventKind>(
  { logId, runId, occurredAtUs = Date.now() * 1000 }: RunIds & Time,
  kind: K,
  payload: Partial<PayloadOf<K>> = {},
): RetraceEvent<K> {
  return newControlEvent<K>({
    ...{ logId, runId, kind, occurredAtUs },
    payload: { ...SAMPLE_PAYLOADS[kind], ...payload } as PayloadOf<K>,
  });
}

/** Steps in one growing context; token ids differ from episode to episode. */
function sampleSteps({
  ordinal,
  numSteps = 3,
  numTokens = 12,
  step: fieldsOf = () => ({}),
}: EpisodeSpec): StepRecorded[] {
  return Array.from({ length: numSteps }, (_, step) => {
    const sample = sampleStep({ step, numTokens });
    const tokenIds = sample.tokenIds.map((id) => id + ordinal);
    return { ...sample, tokenIds, keptPrefixTokens: step * numTokens, reward: step, ...fieldsOf(step) };
  });
}

function sealSample(steps: readonly StepRecorded[], { ordinal, ended }: EpisodeSpec): EpisodeEnded {
  const sealed = sealEpisode(steps, {
    endReason: 'truncated',
    success: ordinal % 2 === 0,
    finalObservation: `final of ${ordinal}`,
    finalTokenIds: Int32Array.of(ordinal, ordinal + 1),
    finalKeptPrefixTokens: steps.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
  });
  return { ...sealed, ...ended };
}
