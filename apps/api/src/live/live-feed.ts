import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { EventLog, LogRecord } from '@retrace/log';
import { decodeEvent } from '@retrace/trajectory/codec';
import { setTimeout as sleep } from 'node:timers/promises';
import { InjectEventLog } from '../log/log.module.js';
import { toLiveMessage, type LiveMessage } from './live-message.js';

type Listener = (message: LiveMessage) => void;

interface Recent {
  readonly message: LiveMessage;
  readonly seenAtMs: number;
}

const MAX_RECENT = 2_000;
const MAX_CATCH_UP_RECORDS = 10_000;
const RESTART_MS = 1_000;

/**
 * The control stream as messages, from its end on: one follower of the log for all clients.
 *
 * It remembers the newest messages for clients that have just read a snapshot from the store, which is a moment behind the log.
 */
@Injectable()
export class LiveFeed implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('live');
  private readonly stopping = new AbortController();
  private readonly listeners = new Set<Listener>();
  private recent: Recent[] = [];
  /** Offset that the follower reads next. */
  private nextOffset = 0;
  private following: Promise<void> = Promise.resolve();

  constructor(@InjectEventLog() private readonly log: EventLog) {}

  async onApplicationBootstrap(): Promise<void> {
    this.nextOffset = await this.log.endOffset('control', 0);
    this.following = this.follow();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.following;
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Messages of the last `withinMs`. */
  since(withinMs: number): LiveMessage[] {
    const earliest = performance.now() - withinMs;
    return this.recent.filter(({ seenAtMs }) => seenAtMs >= earliest).map(({ message }) => message);
  }

  /**
   * Messages from `fromOffset` on, read from the log.
   *
   * @returns null when too many were missed, or when the offset is beyond the log's end (it is of another log)
   */
  async from(fromOffset: number): Promise<LiveMessage[] | null> {
    if (fromOffset > this.nextOffset || this.nextOffset - fromOffset > MAX_CATCH_UP_RECORDS) return null;
    if (fromOffset < (await this.log.startOffset('control', 0))) return null;
    const messages: LiveMessage[] = [];
    let offset = fromOffset;
    while (offset < this.nextOffset) {
      const records = await this.log.read('control', 0, offset, { maxRecords: this.nextOffset - offset });
      if (records.length === 0) break;
      messages.push(...listMessages(records));
      offset = records[records.length - 1].offset + 1;
    }
    return messages;
  }

  private async follow(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        for await (const records of this.log.follow('control', 0, this.nextOffset, {
          signal,
          maxRecords: 500,
        })) {
          for (const message of listMessages(records)) this.publish(message);
          this.nextOffset = records[records.length - 1].offset + 1;
        }
      } catch (error) {
        this.logger.error(`reading the log failed, retrying: ${describeError(error)}`);
        await sleep(RESTART_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private publish(message: LiveMessage): void {
    this.recent.push({ message, seenAtMs: performance.now() });
    if (this.recent.length > 2 * MAX_RECENT) this.recent = this.recent.slice(-MAX_RECENT);
    for (const listener of this.listeners) listener(message);
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function listMessages(records: readonly LogRecord[]): LiveMessage[] {
  return records.flatMap(({ offset, bytes }) => {
    const decoded = decodeEvent(bytes);
    // The sink reports dead letters; this stream leaves them out.
    const message = decoded.ok ? toLiveMessage(offset, decoded.event) : null;
    return message ? [message] : [];
  });
}
