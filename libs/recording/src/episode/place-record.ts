import {
  type AnyEvent,
  contentChecksum,
  type EpisodeEventKind,
  findEventProblem,
  toFingerprint,
  newEpisodeEvent,
  type PayloadOf,
  stepTotals,
  TrajectoryError,
} from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { hashToSeq } from '../convert/episode-id.js';
import {
  episodeAnnotated,
  episodeEnded,
  episodeStarted,
  microseconds,
  rewardAssigned,
} from '../convert/episode-payloads.js';
import { stepPayload } from '../convert/step-payload.js';
import type { WireAnnotation, WireEnd, WireEpisode, WireReward } from '../wire/episode-records.js';
import type { WireStep } from '../wire/step-record.js';
import type { WireRecord } from '../wire/wire-records.js';
import type { EpisodeProgress, PlaceKind } from './episode-progress.js';
import { PlaceRefusal } from './place-refusal.js';
import { wireFault } from './wire-fault.js';

/** The parts that the events of a batch have in common. */
export interface BatchContext {
  readonly runId: string;
  readonly logId: string;
  /** Environment of the run, for episodes that name none. */
  readonly environment: string;
  readonly arrivedAtUs: number;
  readonly maxEventBytes: number;
}

/** A record that goes into the log, or one that is there already or goes there before it. */
export type PlacedRecord =
  | { readonly kind: 'new'; readonly bytes: Uint8Array; readonly undo: () => void }
  | { readonly kind: 'duplicate' };

const DUPLICATE: PlacedRecord = Object.freeze({ kind: 'duplicate' });

/**
 * Gives a record its place in its episode and makes its event.
 *
 * @throws PlaceRefusal when the state of the episode doesn't allow the record; RecordingError `INVALID_RECORDS`
 */
export function placeRecord(
  record: WireRecord,
  state: EpisodeProgress,
  context: BatchContext,
  index: number,
): PlacedRecord {
  const placing = new Placing(state, context, index);
  if (record.type === 'episode') return placing.start(record);
  if (!state.isStarted) {
    const rule = 'must be an episode that an earlier record of type "episode" has started';
    throw placing.refusal('EPISODE_UNKNOWN', 'episode', record.episode, rule);
  }
  switch (record.type) {
    case 'step':
      return placing.step(record);
    case 'end':
      return placing.end(record);
    case 'reward':
      return placing.reward(record);
    case 'annotation':
      return placing.annotation(record);
  }
}

interface Place {
  readonly kind: PlaceKind;
  readonly seq: number;
}

class Placing {
  constructor(
    private readonly state: EpisodeProgress,
    private readonly context: BatchContext,
    private readonly index: number,
  ) {}

  start(record: WireEpisode): PlacedRecord {
    const { state } = this;
    const event = this.event('EpisodeStarted', 0, record, episodeStarted(record, this.context));
    if (state.isStarted) return this.compare(event, { kind: 'inOrder', seq: 0 }, 'EPISODE_CONFLICT', record);
    return this.take(event, (fingerprint) => state.start(fingerprint));
  }

  step(record: WireStep): PlacedRecord {
    const { state } = this;
    const { step } = record;
    if (step >= state.numSteps && state.isEnded) {
      const rule = `must be below ${state.numSteps}: the episode has ended after so many steps`;
      throw this.refusal('EPISODE_ENDED', 'step', step, rule);
    }
    if (step > state.numSteps) {
      const rule = `must be ${state.numSteps}, the next step of the episode`;
      throw this.refusal('STEP_OUT_OF_ORDER', 'step', step, rule);
    }
    const contextTokens = state.contextBefore(step);
    const payload = stepPayload(record, contextTokens);
    if (payload.keptPrefixTokens > contextTokens) {
      const rule = `must be ≤ ${contextTokens}, the tokens of the context so far`;
      throw this.refusal('INVALID_RECORDS', 'tokens.keptPrefix', payload.keptPrefixTokens, rule);
    }
    const event = this.event('StepRecorded', step + 1, record, payload);
    if (step < state.numSteps)
      return this.compare(event, { kind: 'inOrder', seq: step + 1 }, 'STEP_CONFLICT', record);
    const context = payload.keptPrefixTokens + payload.tokenIds.length;
    return this.take(event, (fingerprint) => state.addStep(fingerprint, stepTotals(payload), context));
  }

  end(record: WireEnd): PlacedRecord {
    const { state } = this;
    const { numSteps } = state;
    if (record.numSteps !== undefined && record.numSteps !== numSteps) {
      const rule = `must be ${numSteps}, the steps that were recorded`;
      throw this.refusal('STEP_OUT_OF_ORDER', 'numSteps', record.numSteps, rule);
    }
    const contextTokens = state.contextBefore(numSteps);
    const payload = episodeEnded(record, state.totals, contextTokens);
    if (payload.finalKeptPrefixTokens > contextTokens) {
      const rule = `must be ≤ ${contextTokens}, the tokens of the context so far`;
      throw this.refusal('INVALID_RECORDS', 'finalTokens.keptPrefix', payload.finalKeptPrefixTokens, rule);
    }
    const event = this.event('EpisodeEnded', numSteps + 1, record, payload);
    if (state.isEnded)
      return this.compare(event, { kind: 'inOrder', seq: numSteps + 1 }, 'END_CONFLICT', record);
    return this.take(event, (fingerprint) => state.end(fingerprint));
  }

  reward(record: WireReward): PlacedRecord {
    const { step = null, id } = record;
    if (step !== null && step >= this.state.numSteps) {
      const rule = `must be below ${this.state.numSteps}, the number of steps that were recorded`;
      throw this.refusal('STEP_UNKNOWN', 'step', step, rule);
    }
    const payload = rewardAssigned(record);
    const { name, value, source, rationale } = payload;
    const seq =
      id === undefined
        ? hashToSeq('reward', step, name, value, source, rationale, this.timeOf(record))
        : hashToSeq('reward', id);
    return this.own('reward', this.event('RewardAssigned', seq, record, payload), 'REWARD_CONFLICT', record);
  }

  annotation(record: WireAnnotation): PlacedRecord {
    const payload = episodeAnnotated(record);
    const { tags, metadata, source } = payload;
    const seq =
      record.id === undefined
        ? hashToSeq('annotation', tags, metadata, source, this.timeOf(record))
        : hashToSeq('annotation', record.id);
    const event = this.event('EpisodeAnnotated', seq, record, payload);
    return this.own('annotation', event, 'ANNOTATION_CONFLICT', record);
  }

  refusal(code: PlaceRefusal['code'], field: string, value: unknown, rule: string): PlaceRefusal {
    return new PlaceRefusal(code, this.state, { index: this.index, field, value, rule });
  }

  private own(
    kind: Exclude<PlaceKind, 'inOrder'>,
    event: AnyEvent,
    code: PlaceRefusal['code'],
    record: WireRecord,
  ): PlacedRecord {
    const { seq } = event;
    if (this.state.fingerprintAt(kind, seq) !== undefined)
      return this.compare(event, { kind, seq }, code, record);
    return this.take(event, (fingerprint) => this.state.add(kind, seq, fingerprint));
  }

  private compare(
    event: AnyEvent,
    { kind, seq }: Place,
    code: PlaceRefusal['code'],
    record: WireRecord,
  ): PlacedRecord {
    if (this.state.fingerprintAt(kind, seq) === toFingerprint(contentChecksum(event))) return DUPLICATE;
    const [field, value] = makeKey(record);
    throw this.refusal(code, field, value, 'must come with the same content as the first time');
  }

  private take(event: AnyEvent, put: (fingerprint: number) => () => void): PlacedRecord {
    const bytes = this.encode(event);
    return { kind: 'new', bytes, undo: put(toFingerprint(contentChecksum(event))) };
  }

  private encode(event: AnyEvent): Uint8Array {
    let bytes: Uint8Array;
    try {
      bytes = encodeEvent(event);
    } catch (error) {
      const problem = error instanceof TrajectoryError ? findEventProblem(event) : null;
      if (problem === null) throw error;
      throw wireFault(problem, this.index);
    }
    if (bytes.length <= this.context.maxEventBytes) return bytes;
    const rule = `must take at most ${this.context.maxEventBytes} bytes as an event`;
    throw wireFault({ field: '', value: bytes.length, rule }, this.index);
  }

  private event<K extends EpisodeEventKind>(
    kind: K,
    seq: number,
    record: WireRecord,
    payload: PayloadOf<K>,
  ): AnyEvent {
    const { runId, logId } = this.context;
    const { episodeId } = this.state;
    const occurredAtUs = this.timeOf(record);
    return newEpisodeEvent<K>({ kind, logId, runId, episodeId, seq, occurredAtUs, payload }) as AnyEvent;
  }

  private timeOf({ occurredAt }: WireRecord): number {
    return occurredAt === undefined ? this.context.arrivedAtUs : microseconds(occurredAt);
  }
}

/** The field that makes a record idempotent, and its value. */
function makeKey(record: WireRecord): readonly [string, unknown] {
  if (record.type === 'step') return ['step', record.step];
  if ((record.type === 'reward' || record.type === 'annotation') && record.id !== undefined)
    return ['id', record.id];
  return ['episode', record.episode];
}
