import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '@retrace/log';
import { decodeEvent } from '@retrace/trajectory/codec';
import { alarmOf, type Alarm } from './alarm.js';
import type { AlarmContext, AlarmReceiver } from './alarm-receiver.js';
import type { DeliveredPosition } from './delivered-position.js';

export interface AlarmDeliveryParts {
  readonly log: EventLog;
  readonly receiver: AlarmReceiver;
  readonly position: DeliveredPosition;
  readonly contextOf: (alarm: Alarm) => Promise<AlarmContext>;
  readonly warn: (message: string) => void;
  /** Between the first two tries (default 1 s); twice as long each time, at most five minutes. */
  readonly retryMs?: number;
}

const REQUEST_TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 300_000;
const MAX_RECORDS = 500;
/** Statuses of a request that may be taken later; of other 4xx it never will be. */
const TRANSIENT = new Set([408, 425, 429]);

/**
 * Sends the alarms of the log to one receiver, in their order and each at least once: the log is the queue, and the position in it moves on
 * when an alarm was taken, or refused for good. Without a position it begins at the end of the log.
 */
export class AlarmDelivery {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly parts: AlarmDeliveryParts) {}

  async start(): Promise<void> {
    const { log, position } = this.parts;
    const [first, end] = [await log.startOffset('control', 0), await log.endOffset('control', 0)];
    const kept = position.read();
    const from = kept === null || kept > end ? end : Math.max(kept, first);
    position.write(from);
    this.running = this.follow(from);
  }

  /** Breaks off what is being sent; it is sent again after the next start. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async follow(from: number): Promise<void> {
    const { log, position, warn } = this.parts;
    const { signal } = this.stopping;
    let nextOffset = from;
    while (!signal.aborted) {
      try {
        const reading = log.follow('control', 0, nextOffset, { signal, maxRecords: MAX_RECORDS });
        for await (const records of reading) {
          for (const { offset, bytes } of records) {
            const decoded = decodeEvent(bytes);
            const alarm = decoded.ok ? alarmOf(decoded.event) : null;
            if (alarm !== null && !(await this.deliver(alarm))) return;
            nextOffset = offset + 1;
            if (alarm !== null) position.write(nextOffset);
          }
        }
      } catch (error) {
        if (signal.aborted) break;
        warn(`reading alarms failed, retrying: ${reasonOf(error)}`);
        await this.pause();
      }
    }
    position.write(nextOffset);
  }

  /** Resolves with true once the receiver took the alarm or refused it for good, with false when this stops. */
  private async deliver(alarm: Alarm): Promise<boolean> {
    const { receiver, contextOf, warn } = this.parts;
    const body = JSON.stringify(receiver.body(alarm, await contextOf(alarm)));
    for (
      let pauseMs = this.parts.retryMs ?? FIRST_RETRY_MS;
      ;
      pauseMs = Math.min(2 * pauseMs, MAX_RETRY_MS)
    ) {
      const answer = await this.post(body);
      if (this.stopping.signal.aborted) return false;
      if (answer.isTaken) return true;
      if (answer.isFinal) {
        warn(`${receiver.name} refused the alarm "${alarm.name}": ${answer.reason}`);
        return true;
      }
      warn(`${receiver.name} did not take an alarm, again in ${pauseMs / 1000} s: ${answer.reason}`);
      await this.pause(pauseMs);
      if (this.stopping.signal.aborted) return false;
    }
  }

  /** Reasons name no address: that of a webhook is a secret. */
  private async post(
    body: string,
  ): Promise<{ readonly isTaken: boolean; readonly isFinal: boolean; readonly reason: string }> {
    try {
      const response = await fetch(this.parts.receiver.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.any([this.stopping.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      });
      const said = (await response.text()).slice(0, 200);
      const { ok, status } = response;
      const isFinal = !ok && status < 500 && !TRANSIENT.has(status);
      return { isTaken: ok, isFinal, reason: `status ${status}${said === '' ? '' : `, ${said}`}` };
    } catch (error) {
      const { cause } = error as { readonly cause?: { readonly code?: string } };
      return { isTaken: false, isFinal: false, reason: cause?.code ?? reasonOf(error) };
    }
  }

  private pause(ms = this.parts.retryMs ?? FIRST_RETRY_MS): Promise<void> {
    return sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
