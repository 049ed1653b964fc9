import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { EventLog, LogRecord } from '@retrace/log';
import { type Alarm, ALARM_KINDS, toAlarm, nameOfRule } from '@retrace/trajectory';
import { decodeEvent, peekEnvelope } from '@retrace/trajectory/codec';
import { LRUCache } from 'lru-cache';
import type { AlarmContext, AlarmReceiver } from './alarm-receiver.js';
import type { DeliveredPosition } from './delivered-position.js';
import { postJson } from './post-json.js';

export interface AlarmDeliveryParts {
  readonly log: EventLog;
  readonly receiver: AlarmReceiver;
  readonly position: DeliveredPosition;
  readonly contextOf: (alarm: Alarm, signal: AbortSignal) => Promise<AlarmContext>;
  readonly warn: (message: string) => void;
  /** Between the first two tries (default 1 s); twice as long each time, at most five minutes. */
  readonly retryMs?: number;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 300_000;
const MAX_RECORDS = 500;
/** The position is also written where nothing is sent, so that little is read again after a crash. */
const POSITION_INTERVAL_MS = 60_000;
/** An append to Kafka may land twice, the second time soon after the first. */
const MAX_RECENT = 1_000;

/**
 * Sends the alarms of the log to one receiver, in their order and until each is taken, or refused for good: the log is the queue, and the position in
 * it moves on after each. Without a position it begins at the end of the log.
 */
export class AlarmDelivery {
  private readonly stopping = new AbortController();
  private readonly recent = new LRUCache<string, true>({ max: MAX_RECENT });
  private running: Promise<void> = Promise.resolve();
  private nextOffset = 0;
  private writtenAtMs = performance.now();

  constructor(private readonly parts: AlarmDeliveryParts) {}

  async start(): Promise<void> {
    const { log, position } = this.parts;
    const end = await log.endOffset('control', 0);
    const kept = position.read();
    this.nextOffset = kept === null || kept > end ? end : Math.max(kept, await log.startOffset('control', 0));
    position.write(this.nextOffset);
    this.running = this.follow().finally(() => {
      position.write(this.nextOffset);
    });
  }

  /** Breaks off what is being sent; it is sent again after the next start. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async follow(): Promise<void> {
    const { log, warn } = this.parts;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        const options = { signal, maxRecords: MAX_RECORDS };
        for await (const records of log.follow('control', 0, this.nextOffset, options))
          await this.pass(records);
      } catch (error) {
        if (signal.aborted) return;
        warn(`reading alarms failed, retrying: ${(error as Error).message}`);
        await this.pause();
        // The log may have let go of what was to be read next.
        const first = await log.startOffset('control', 0).catch(() => 0);
        this.nextOffset = Math.max(this.nextOffset, first);
      }
    }
  }

  /** Sends the alarms among records; the position is behind the last one that was passed. */
  private async pass(records: readonly LogRecord[]): Promise<void> {
    const { position } = this.parts;
    for (const { offset, bytes } of records) {
      const alarm = this.newAlarmOf(bytes);
      if (alarm !== null && !(await this.deliver(alarm))) return;
      this.nextOffset = offset + 1;
      if (alarm === null && performance.now() - this.writtenAtMs < POSITION_INTERVAL_MS) continue;
      position.write(this.nextOffset);
      this.writtenAtMs = performance.now();
    }
    // Reading an LMDB log waits for nothing, and a log may be long.
    await turn();
  }

  private newAlarmOf(bytes: Uint8Array): Alarm | null {
    const envelope = peekEnvelope(bytes);
    if (envelope === null || !ALARM_KINDS.has(envelope.kind)) return null;
    const decoded = decodeEvent(bytes);
    const alarm = decoded.ok ? toAlarm(decoded.event) : null;
    if (alarm === null || this.recent.has(envelope.eventId)) return null;
    this.recent.set(envelope.eventId, true);
    return alarm;
  }

  /** Resolves with true once the receiver took the alarm, refused it for good or is not to get it, with false when this stops. */
  private async deliver(alarm: Alarm): Promise<boolean> {
    const { receiver, contextOf, warn } = this.parts;
    const { signal } = this.stopping;
    const name = nameOfRule(alarm.rule);
    for (
      let pauseMs = this.parts.retryMs ?? FIRST_RETRY_MS;
      ;
      pauseMs = Math.min(2 * pauseMs, MAX_RETRY_MS)
    ) {
      const body = receiver.body(alarm, await contextOf(alarm, signal), Date.now());
      if (body === null) return !signal.aborted;
      const { outcome, reason } = await postJson(receiver.url, body, signal);
      if (outcome === 'taken') return true;
      if (signal.aborted) return false;
      if (outcome === 'refused') {
        warn(
          `the ${receiver.name} refused the alarm "${name}" (${reason}), which is not sent again; check its address`,
        );
        return true;
      }
      warn(
        `the alarm "${name}" did not reach the ${receiver.name} (${reason}); next try in ${pauseMs / 1000} s`,
      );
      await this.pause(pauseMs);
      if (signal.aborted) return false;
    }
  }

  private pause(ms = this.parts.retryMs ?? FIRST_RETRY_MS): Promise<void> {
    return sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
