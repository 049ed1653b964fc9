import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '@retrace/log';
import {
  readAlarmOccurrences,
  readSilences,
  silenceOfAlarm,
  StoredPosition,
  type StoredSilence,
} from '@retrace/store';
import { type Alarm, type AlarmAcknowledgement, nowUs } from '@retrace/trajectory';
import type { StoreService } from '../store/store.service.js';

/** An acknowledgement and a silence of an alarm. */
export interface AlarmStanding {
  /** Of its newest occurrence, which may be a later one than its own; null where nobody has seen that. */
  readonly acknowledgement: AlarmAcknowledgement | null;
  /** The silence that held when it was raised, or holds when it is sent; null for none. */
  readonly silence: StoredSilence | null;
}

/** Of an alarm that nobody did anything about. */
export const UNHANDLED: AlarmStanding = { acknowledgement: null, silence: null };

interface AlarmStandingsParts {
  readonly log: EventLog;
  readonly store: Pick<StoreService, 'now' | 'reader'>;
  /** Longest time that one alarm waits for the store (default 10 s). */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const RETRY_MS = 200;
/** After a store did not answer in time, alarms hardly wait for it: many that are raised at once would each wait that long. */
const HURRY_MS = 60_000;
const HURRIED_TIMEOUT_MS = 500;

/** Reads what people did about alarms. */
export class AlarmStandings {
  private stored: StoredPosition | null = null;
  /** Until then alarms hardly wait, on the clock of `performance.now()`. */
  private hurriesUntilMs = 0;

  constructor(private readonly parts: AlarmStandingsParts) {}

  /**
   * Resolves with what the log knows by now of what people did about an alarm. An alarm does not wait long for a store that is not there, or is behind:
   * nobody did anything about it then, nor where `stopping` aborts.
   */
  async of(alarm: Alarm, stopping: AbortSignal): Promise<AlarmStanding> {
    const { timeoutMs = TIMEOUT_MS } = this.parts;
    const isHurried = performance.now() < this.hurriesUntilMs;
    const patienceMs = isHurried ? HURRIED_TIMEOUT_MS : timeoutMs;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(patienceMs)]);
    // Of a signal that has aborted already no event comes, and nothing waits for one.
    const aborted = once(signal, 'abort').then(() => false);
    while (!signal.aborted) {
      try {
        if (await Promise.race([this.isStored(patienceMs), aborted])) return await this.read(alarm, signal);
      } catch {
        // The store is starting, or does not answer.
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
    if (!stopping.aborted) this.hurriesUntilMs = performance.now() + HURRY_MS;
    return UNHANDLED;
  }

  /** Waits until the store has all that is in the log now: what people did comes after the alarm. */
  private async isStored(timeoutMs: number): Promise<boolean> {
    const { log, store } = this.parts;
    this.stored ??= new StoredPosition(log, store.now, { stream: 'control', partition: 0 });
    return this.stored.reaches(await log.endOffset('control', 0), timeoutMs);
  }

  private async read(alarm: Alarm, signal: AbortSignal): Promise<AlarmStanding> {
    const { runId } = alarm;
    const { reader } = this.parts.store;
    const [occurrencesOf, silences] = await Promise.all([
      readAlarmOccurrences(reader, [runId], signal),
      readSilences(reader, [...new Set(['', runId])], signal),
    ]);
    return {
      acknowledgement: occurrencesOf.get(runId)?.acknowledgementOf(alarm) ?? null,
      silence: silenceOfAlarm(silences, alarm, nowUs()),
    };
  }
}
