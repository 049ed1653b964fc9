import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import type { Stream } from '@retrace/trajectory';
import { type PartitionProgress, Sink } from '@retrace/store';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiConfig } from '../config/api-config.js';
import { InjectEventLog } from '../log/log.module.js';
import { StoreService } from '../store/store.service.js';

/** `off`: the sink is another process. `failed`: it stopped with an error that waiting may not fix; it is restarted slowly. */
export interface SinkState {
  readonly phase: 'off' | 'waiting' | 'running' | 'backingOff' | 'failed';
  readonly detail: string;
  readonly partitions: readonly PartitionProgress[];
}

const RESTART_MS = 10_000;
/** How long a stop waits until the store has every record of the log. */
const DRAIN_MS = 5_000;
/** How long the current insert may take after that. */
const STOP_MS = 15_000;
const STREAMS: readonly Stream[] = ['control', 'trajectories'];

/** Copies the log into the store, in this process, once the store has its schema. */
@Injectable()
export class SinkService implements OnModuleDestroy {
  private readonly logger = new Logger('sink');
  private readonly sink = new Sink();
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private failure: string | null = null;
  private isStarted = false;

  constructor(
    private readonly config: ApiConfig,
    private readonly store: StoreService,
    @InjectEventLog() private readonly log: EventLog,
  ) {}

  /** Starts the sink; call it once the store is ready. */
  start(): void {
    if (!this.config.runsSink || this.stopping.signal.aborted) return;
    this.isStarted = true;
    this.running = this.runUntilStopped();
  }

  /** Stops once the store has every acknowledged record, so that its readers miss nothing, or after `DRAIN_MS` at the latest. */
  async onModuleDestroy(): Promise<void> {
    if (this.state.phase === 'running' || this.state.phase === 'backingOff') await this.drain();
    this.stopping.abort();
    // While the log or the store is unavailable, a read or an insert may retry for minutes; the next sink continues from the store's position.
    await Promise.race([this.running, sleep(STOP_MS, undefined, { ref: false })]);
  }

  get state(): SinkState {
    const { partitions } = this.sink.progress();
    if (!this.config.runsSink) return { phase: 'off', detail: 'the sink is another process', partitions };
    if (!this.isStarted) return { phase: 'waiting', detail: 'waiting for the store', partitions };
    if (this.failure !== null) return { phase: 'failed', detail: this.failure, partitions };
    const stuck =
      partitions.find(({ state }) => state === 'failed') ??
      partitions.find(({ state }) => state === 'backingOff');
    if (stuck) return { phase: 'backingOff', detail: stuck.lastFailure?.message ?? '', partitions };
    return { phase: 'running', detail: '', partitions };
  }

  private async drain(): Promise<void> {
    const signal = AbortSignal.timeout(DRAIN_MS);
    const positions = STREAMS.flatMap((stream) =>
      Array.from({ length: this.log.numPartitions(stream) }, (_, partition) => ({ stream, partition })),
    );
    try {
      await Promise.all(
        positions.map(async ({ stream, partition }) => {
          const endOffset = await this.log.endOffset(stream, partition);
          if (endOffset > 0) await this.sink.caughtUpTo(stream, partition, endOffset - 1, { signal });
        }),
      );
    } catch (error) {
      const reason = signal.aborted ? `after ${DRAIN_MS / 1000} s` : String(error);
      this.logger.warn(
        `stopped before the store had all of the log (${reason}); the next sink continues from there`,
      );
    }
  }

  private async runUntilStopped(): Promise<void> {
    const { signal } = this.stopping;
    const client = this.store.createClient();
    while (!signal.aborted) {
      try {
        this.failure = null;
        await this.sink.run({
          log: this.log,
          client,
          signal,
          refusesOtherLogs: !this.config.acceptsOtherLog,
          onNotice: (line) => {
            this.logger.error(line);
          },
        });
      } catch (error) {
        this.failure = error instanceof Error ? error.message : String(error);
        this.logger.error(`stopped, restarting in ${RESTART_MS / 1000} s: ${this.failure}`);
        await sleep(RESTART_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    await client.close();
  }
}
