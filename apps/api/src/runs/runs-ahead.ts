import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { ControlEventKind } from '@retrace/trajectory';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlChange, ControlChanges } from '../store/control-changes.js';
import { RunActivityReader } from './run-activity.js';
import { type RunFacts, RunFactsReader } from './run-facts.js';
import { RunTotalsReader } from './run-totals-reader.js';
import { RunsQuery } from './runs-query.dto.js';
import { RunsService } from './runs.service.js';

/** By which the page of runs sorts beside names and times. */
const SORTED_METRIC = 'rollout/success';
/** Those that lists of a name or a tag show first. */
const MOST_RUNS = 1_000;
const RUNS_AT_ONCE = 50;
/** Those on the first page of a list, one of which is opened next. */
const MOST_TOTALS = 50;
const LOOK_EVERY_MS = 5_000;
const STOP_WITHIN_MS = 1_000;

/** After these, a list of runs waits for what is new of the run; those that every update has may be late. */
const RARE_KINDS: ReadonlySet<string> = new Set<ControlEventKind>([
  ...(['RunStarted', 'TrainerClaimed', 'RunEnded', 'RunAnnotated'] as const),
]);

/** Reads what lists of runs show before somebody asks for them: of the newest runs once the store is ready, and then of a run that started or ended. */
@Injectable()
export class RunsAhead implements OnModuleDestroy {
  private readonly stopping = new AbortController();
  /** At the last look the store had every control record before this offset. */
  private settledOffset = 0;
  /** At the last look the log ended before this offset, as far as it has control records. */
  private seenOffset = 0;
  private following: Promise<void> = Promise.resolve();

  constructor(
    private readonly runs: RunsService,
    private readonly facts: RunFactsReader,
    private readonly activities: RunActivityReader,
    private readonly totals: RunTotalsReader,
    private readonly changes: ControlChanges,
  ) {}

  /** Works until the process stops. A failure is that of the first question, which reads again. */
  follow(): void {
    this.following = this.readUntilStopped();
  }

  private async readUntilStopped(): Promise<void> {
    await this.readAll().catch(() => undefined);
    // Beside each other: news do not wait for the totals of runs with millions of episodes.
    await Promise.all([this.readTotalsOfNewest().catch(() => undefined), this.readNewsUntilStopped()]);
  }

  private async readNewsUntilStopped(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.readNews().catch(() => undefined);
      await this.pause(LOOK_EVERY_MS);
    }
  }

  /** All but totals. One query after the other, with pauses as long as they take: questions go first. */
  async readAll(): Promise<void> {
    // Before anything is read: what happens from now on is news.
    const look = await this.changes.look();
    if (look !== null) this.settledOffset = this.seenOffset = look.storedOffset;
    await this.runs.list(new RunsQuery());
    if (this.stopping.signal.aborted) return;
    await this.runs.list(byMetric());
    const newest = await this.newestRuns();
    for (let from = 0; from < newest.length && !this.stopping.signal.aborted; from += RUNS_AT_ONCE) {
      const startedMs = performance.now();
      const batch = newest.slice(from, from + RUNS_AT_ONCE).map(({ runId }) => runId);
      await this.activities.read(batch).catch(() => undefined);
      await this.pause(performance.now() - startedMs);
    }
  }

  /** The oldest first, since figures of the runs that were asked about last are kept. */
  private async newestRuns(): Promise<readonly RunFacts[]> {
    return Array.from((await this.facts.all()).values())
      .sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
      .slice(-MOST_RUNS);
  }

  /** Of the newest runs those that have ended: totals of others are kept for seconds only. */
  async readTotalsOfNewest(): Promise<void> {
    const newest = (await this.newestRuns()).slice(-MOST_TOTALS).reverse();
    await this.readTotals(newest.filter(({ endedAt }) => endedAt !== null).map(({ runId }) => runId));
  }

  /** One run after the other, since one of them may have millions of episodes. */
  private async readTotals(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) {
      if (this.stopping.signal.aborted) return;
      const startedMs = performance.now();
      await this.totals.read([runId]).catch(() => undefined);
      await this.pause(performance.now() - startedMs);
    }
  }

  /** A run that started or ended since, or that a person changed: once when the log has the record, and once when the store has it. */
  async readNews(): Promise<void> {
    const look = await this.changes.look();
    if (look === null) return;
    const { seenOffset } = this;
    const records = look.since(this.settledOffset);
    const isNews = ({ kind, offset }: ControlChange) =>
      RARE_KINDS.has(kind) && (offset >= seenOffset || offset < look.storedOffset);
    this.settledOffset = look.storedOffset;
    this.seenOffset = Math.max(seenOffset, look.storedOffset, (records?.at(-1)?.offset ?? -1) + 1);
    if (records === null || records.some(isNews)) await this.runs.list(new RunsQuery());
    // Only when the store has the end: totals of before are refused as soon as it does. The last to end first, as those of the newest runs.
    const ended = (records ?? []).filter(
      ({ kind, offset }) => kind === 'RunEnded' && offset < look.storedOffset,
    );
    const runIds = new Set(ended.map(({ runId }) => runId).reverse());
    await this.readTotals([...runIds].slice(0, MOST_TOTALS));
  }

  private async pause(durationMs: number): Promise<void> {
    await sleep(durationMs, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
  }

  /** Before the log and the store are closed; a store that does not answer is not waited for. */
  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await Promise.race([this.following, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
  }
}

/** The runs as the page sorts them by that metric. */
function byMetric(): RunsQuery {
  return Object.assign(new RunsQuery(), { sort: 'metric', metric: SORTED_METRIC, order: 'descending' });
}
