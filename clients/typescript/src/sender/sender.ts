import type { ApiConnection } from '../wire/api-connection.js';
import { storableEntry } from '../storable/storable-record.js';
import { describeReason, RetraceError } from '../wire/retrace-error.js';
import { DamagedEpisodes, type DamagedEpisode } from './damaged-episodes.js';
import { deliver } from './deliver.js';
import {
  decodeLine,
  encodeLine,
  findEpisode,
  outboxLine,
  parseRecord,
  type OutboxEntry,
  type OutboxLine,
} from '../storable/outbox-entry.js';
import { poorerLine } from './poorer-line.js';
import type { RecordQueue } from './record-queue.js';
import { retryDelayMs } from './retry-delay.js';

export interface SenderOptions {
  /** Most records of a request (default 1,000; the server takes 10,000). */
  readonly maxBatchRecords?: number;
  /** Most bytes of a request, before compression (default 1 MiB; the server takes 16). A record that is larger is sent by itself. */
  readonly maxBatchBytes?: number;
  /** How long records wait for others to be sent with (default 200). */
  readonly lingerMs?: number;
  /** Hears of everything that went wrong. What it throws is ignored. */
  readonly onError?: (error: RetraceError) => void;
}

export interface SenderCounts {
  /** Waiting to be sent. */
  readonly numPending: number;
  /** Acknowledged by the server, which has them in its log; `numDuplicates` of them it had already. */
  readonly numAcknowledged: number;
  readonly numDuplicates: number;
  /** Not taken in, as there was no room or nothing of them can be stored. */
  readonly numDropped: number;
  /** Refused by the server, and dropped. */
  readonly numRefused: number;
  /** Episodes of which a record is stored without a part that the server does not take. */
  readonly numPoorerEpisodes: number;
  /** Episodes of which a record is missing. */
  readonly numBrokenEpisodes: number;
  /** The newest of both, with the reasons. */
  readonly damagedEpisodes: readonly DamagedEpisode[];
}

/** Refusals of records that are missing nowhere: their episode is gone, or another record has their place. */
const IS_ELSEWHERE: ReadonlySet<string> = new Set(['EPISODE_DELETED', 'STEP_CONFLICT', 'REWARD_CONFLICT']);

/**
 * Sends lines of a queue in batches, one request at a time, so that the order stays. What the server can't take now is sent again until
 * it can. A record is made storable before it is queued; one that the server refuses still is sent again with less in it, and dropped
 * only where that does not help either. The rest of its batch is sent.
 *
 * `enqueue` neither waits nor throws.
 */
export class Sender {
  private readonly options: Required<SenderOptions>;
  private readonly stopping = new AbortController();
  private readonly damaged = new DamagedEpisodes();
  /** A poorer line in place of the oldest one, which the server has refused. */
  private substitute: OutboxLine | null = null;
  /** Ends of episodes that found no room. */
  private owedEnds: OutboxEntry[] = [];
  private counts = { numAcknowledged: 0, numDuplicates: 0, numDropped: 0, numRefused: 0 };
  private numFailures = 0;
  /** Lines of the next request at most; fewer while a line at fault is looked for. */
  private maxLines: number;
  private linger: ReturnType<typeof setTimeout> | null = null;
  private sending: Promise<void> | null = null;
  /** Ends the wait before a repeated attempt. */
  private endWait: () => void = () => undefined;
  /** The same, unless the server asked for the wait. */
  private endBackoff: () => void = () => undefined;

  constructor(
    private readonly queue: RecordQueue,
    private readonly connection: ApiConnection,
    options: SenderOptions = {},
  ) {
    this.options = {
      maxBatchRecords: options.maxBatchRecords ?? 1_000,
      maxBatchBytes: options.maxBatchBytes ?? 1024 ** 2,
      lingerMs: options.lingerMs ?? 200,
      onError: options.onError ?? (() => undefined),
    };
    this.maxLines = this.options.maxBatchRecords;
  }

  get stats(): SenderCounts {
    const { numPoorer: numPoorerEpisodes, numBrokenOff: numBrokenEpisodes, list } = this.damaged;
    const damaged = { numPoorerEpisodes, numBrokenEpisodes, damagedEpisodes: list };
    return { numPending: this.queue.numLines, ...this.counts, ...damaged };
  }

  /**
   * Makes an entry storable, and reports what had to be changed.
   *
   * @returns null, counted as dropped and reported, when nothing of it can be stored
   */
  storable(entry: OutboxEntry): OutboxEntry | null {
    const { content, changes } = storableEntry(entry);
    if (content === null) {
      this.drop(
        entry,
        new RetraceError('DROPPED', `Nothing of a record can be stored: ${changes.join('; ')}`),
      );
      return null;
    }
    if (changes.length > 0) this.notePoorer(entry.run, findEpisode(entry), changes);
    return content;
  }

  /** @returns whether the entry was taken in; if not, it is counted as dropped and reported */
  enqueue(given: OutboxEntry): boolean {
    const entry = this.storable(given);
    if (entry === null) return false;
    try {
      return this.enqueueLine(entry, outboxLine(entry));
    } catch (cause) {
      this.drop(
        entry,
        new RetraceError('DROPPED', `A record is not JSON: ${describeReason(cause)}`, { cause }),
      );
      return false;
    }
  }

  /**
   * Takes in an entry that `storable` has returned, whose text the caller has.
   *
   * @returns as `enqueue`
   */
  enqueueLine(entry: OutboxEntry, line: OutboxLine): boolean {
    if (this.stopping.signal.aborted) {
      this.drop(entry, new RetraceError('DROPPED', 'A record came after close()'));
      return false;
    }
    if (!this.queue.append(encodeLine(line))) {
      const { numLines, numBytes } = this.queue;
      const held = `${numLines} records of ${numBytes} bytes wait`;
      this.owe(entry);
      this.drop(entry, new RetraceError('DROPPED', `A record found no room: ${held} to be sent`));
      return false;
    }
    const { maxBatchRecords, maxBatchBytes } = this.options;
    if (this.queue.numLines >= maxBatchRecords || this.queue.numBytes >= maxBatchBytes) this.start();
    else this.startSoon();
    return true;
  }

  /** Counts a record that was not given to `enqueue`, as an earlier one of its episode was dropped. */
  countDropped(): void {
    this.counts.numDropped++;
  }

  /**
   * Sends what waits, also what processes that ended have left in the spool.
   *
   * @returns whether everything was answered before the time was up; if not, it goes on later
   */
  async flush(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    await withinMs(this.queue.adopt(), timeoutMs);
    this.endBackoff();
    while (this.queue.numLines > 0 && performance.now() < deadline && !this.stopping.signal.aborted) {
      this.start();
      await withinMs(this.sending, deadline - performance.now());
    }
    return this.queue.numLines === 0;
  }

  /**
   * Sends what waits, as `flush` does, then ends. What was not sent stays in the spool, or is lost where there is none.
   *
   * @returns whether the server has every record; some may be poorer, see `stats`
   */
  async close(timeoutMs: number): Promise<boolean> {
    const isEmpty = await this.flush(timeoutMs);
    this.stopping.abort();
    if (this.linger !== null) clearTimeout(this.linger);
    this.endWait();
    await this.sending;
    await this.queue.close();
    this.reportDamaged();
    return isEmpty && this.damaged.numBrokenOff === 0;
  }

  /** Begins to send; while it already does, ends the wait for more records only. */
  start(): void {
    if (this.linger !== null) clearTimeout(this.linger);
    this.linger = null;
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
      // What came after the queue was seen empty.
      if (this.queue.numLines > 0 && !this.stopping.signal.aborted) this.startSoon();
    });
  }

  private startSoon(): void {
    this.linger ??= setTimeout(() => {
      this.start();
    }, this.options.lingerMs);
  }

  private drop(entry: OutboxEntry, error: RetraceError): void {
    this.countDropped();
    if (entry.kind === 'record')
      this.damaged.note(entry.run, entry.content.episode, toLoss(entry.content.type), [error.message]);
    this.report(error);
  }

  private reportDamaged(): void {
    const { numPoorer, numBrokenOff, list } = this.damaged;
    if (list.length === 0) return;
    const names = list.map(({ run, episode, outcome }) => `${episode} of run ${run} (${outcome})`).join(', ');
    const counts = `${numPoorer} episodes are stored poorer, and ${numBrokenOff} were broken off`;
    this.report(new RetraceError(numBrokenOff > 0 ? 'DROPPED' : 'POORER', `${counts}: ${names}`));
  }

  private notePoorer(run: string, episode: string | null, reasons: readonly string[]): void {
    if (episode !== null) this.damaged.note(run, episode, 'poorer', reasons);
    const what = episode === null ? `Run ${run}` : `Episode ${episode} of run ${run}`;
    this.report(new RetraceError('POORER', `${what} is stored poorer: ${reasons.join('; ')}`));
  }

  /** Remembers an end that found no room: without it, the episode would stay open for ever. */
  private owe(entry: OutboxEntry): void {
    if (entry.kind === 'record' && entry.content.type === 'end') this.owedEnds.push(entry);
  }

  private appendOwed(): void {
    while (this.owedEnds.length > 0 && this.queue.append(encodeLine(outboxLine(this.owedEnds[0]))))
      this.owedEnds.shift();
  }

  private async sendAll(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        const lines = await this.nextLines();
        if (lines === null) return;
        if (lines.length > 0) await this.sendBatch(lines);
      } catch (cause) {
        await this.waitAfter(
          new RetraceError('SPOOL_FAILED', `Reading the queue failed: ${describeReason(cause)}`, { cause }),
        );
      }
    }
  }

  /** The oldest lines that fit into one request; null when nothing waits. */
  private async nextLines(): Promise<readonly OutboxLine[] | null> {
    const { maxBatchBytes } = this.options;
    const raw = await this.queue.peek({ maxLines: this.maxLines, maxBytes: maxBatchBytes });
    if (raw.length === 0) return null;
    if (this.substitute !== null) return [this.substitute];
    const first = decodeLine(raw[0]);
    if (first === null) {
      await this.takeRefused(
        new RetraceError('SPOOL_FAILED', 'A line of the spool is damaged, and was left out'),
      );
      return [];
    }
    const lines = [first];
    while (first.kind === 'record' && lines.length < raw.length) {
      const next = decodeLine(raw[lines.length]);
      if (next?.kind !== 'record' || next.run !== first.run) break;
      lines.push(next);
    }
    return lines;
  }

  private async sendBatch(lines: readonly OutboxLine[]): Promise<void> {
    const delivery = await deliver(this.connection, lines, this.stopping.signal);
    if (this.stopping.signal.aborted && delivery.outcome === 'wait') return;
    switch (delivery.outcome) {
      case 'acknowledged':
        this.numFailures = 0;
        this.maxLines = this.options.maxBatchRecords;
        this.counts.numAcknowledged += lines.length;
        this.counts.numDuplicates += delivery.numDuplicates;
        return this.take(lines.length);
      case 'wait':
        return this.waitAfter(delivery.error);
      case 'refused':
        this.numFailures = 0;
        return this.isolate(lines, delivery.index, delivery.error);
    }
  }

  /**
   * Replaces the first line by a poorer one if it is at fault, or drops it; otherwise sends those before the one at fault by themselves,
   * so that it comes first.
   */
  private async isolate(
    lines: readonly OutboxLine[],
    index: number | null,
    error: RetraceError,
  ): Promise<void> {
    if (index !== 0) {
      this.maxLines = index ?? Math.ceil(lines.length / 2);
      return;
    }
    this.maxLines = this.options.maxBatchRecords;
    const [line] = lines;
    const { kind, run, json } = line;
    const { type = '', episode = null } = parseRecord(line);
    this.substitute = poorerLine(line, error);
    if (this.substitute !== null) {
      this.notePoorer(run, episode, [`the server refused a record: ${error.message}`]);
      return;
    }
    if (episode !== null && !IS_ELSEWHERE.has(error.problem))
      this.damaged.note(run, episode, toLoss(type), [error.message]);
    const what = `${kind} of run ${run} ${json.slice(0, 200)}`;
    await this.takeRefused(
      new RetraceError('REFUSED', `${error.message} (${what})`, {
        cause: error,
        status: error.status ?? undefined,
        problem: error.problem,
        errors: error.errors,
      }),
    );
  }

  private async takeRefused(error: RetraceError): Promise<void> {
    this.counts.numRefused++;
    this.report(error);
    await this.take(1);
  }

  private async take(numLines: number): Promise<void> {
    this.substitute = null;
    await this.queue.take(numLines);
    this.appendOwed();
  }

  /** Waits before the next attempt, without keeping the process from ending. */
  private waitAfter(error: RetraceError): Promise<void> {
    this.numFailures++;
    this.report(error);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.endWait = this.endBackoff = () => undefined;
        resolve();
      };
      const timer = setTimeout(end, retryDelayMs(this.numFailures, error.retryAfterMs, Math.random()));
      (timer as { unref?: () => void }).unref?.();
      this.endWait = end;
      if (error.retryAfterMs === null) this.endBackoff = end;
    });
  }

  private report(error: RetraceError): void {
    try {
      this.options.onError(error);
    } catch {
      // An agent never fails on Retrace, nor on what it does with an error of Retrace.
    }
  }
}

/** The outcome of an episode that lacks a record of this type: rewards and annotations have no place that others depend on. */
function toLoss(type: string): DamagedEpisode['outcome'] {
  return type === 'reward' || type === 'annotation' ? 'poorer' : 'brokenOff';
}

/** Waits for a promise, but not for longer than that. */
async function withinMs(waiting: Promise<unknown> | null, timeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, timeoutMs));
  });
  await Promise.race([waiting, limit]);
  clearTimeout(timer);
}
