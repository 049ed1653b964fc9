import type { EpisodePayloads } from './episode-events.js';
import type { ControlPayloads } from './event-fields.js';

/** Events are in the past tense, immutable and versioned; `event-kinds.ts` has the current versions. */
export type Stream = 'trajectories' | 'control';

export type EpisodeEventKind = keyof EpisodePayloads;

export type ControlEventKind = keyof ControlPayloads;

export type Payloads = EpisodePayloads & ControlPayloads;

export type EventKind = keyof Payloads;

export type PayloadOf<K extends EventKind> = Payloads[K];

/** The fields of every event beside its payload. */
export interface Envelope<K extends EventKind = EventKind> {
  /** UUID. Episode events: derived from (runId, episodeId, seq, kind). Control events: UUIDv7, minted once, kept through retries. */
  readonly eventId: string;
  readonly kind: K;
  readonly schemaVersion: number;
  /** Identity of the log that holds the event, from its `LogOpened`. A recreated log is another log. */
  readonly logId: string;
  /** UUID of the run; `''` for events that belong to no run (`LogOpened`, `RetentionApplied` by age, a sink's `WarningRaised`, `AlarmSilenced` in all runs, data sets, notebooks). */
  readonly runId: string;
  /** UUID of the episode; `''` for control events. */
  readonly episodeId: string;
  /**
   * Place inside the episode, assigned by its single writer: EpisodeStarted 0, steps 1…numSteps, EpisodeEnded numSteps + 1. `RewardAssigned` and
   * `EpisodeAnnotated` each have separate numbers, which only distinguish them: a single writer counts from 0, several use a hash of the content.
   * Control events: 0.
   */
  readonly seq: number;
  /** Microseconds since the Unix epoch. */
  readonly occurredAtUs: number;
}

export interface RetraceEvent<K extends EventKind = EventKind> extends Envelope<K> {
  readonly payload: PayloadOf<K>;
}

/** Discriminated union over `kind`: `switch (event.kind)` narrows `event.payload`. */
export type AnyEvent = { [K in EventKind]: RetraceEvent<K> }[EventKind];
