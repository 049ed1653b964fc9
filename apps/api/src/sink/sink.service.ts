import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import type { Stream } from '@retrace/trajectory';
import { Sink, type PartitionProgress } from '@retrace/store';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiConfig } from '../config/api-config.js';
import { InjectEventLog } from '../log/log.module.js';
import { StoreService } from '../store/store.service.js';

/** `off`: the sink is another process. `failed`: it stopped for a reason that waiting doesn't mend; it is tried again slowly. */
export interface SinkState {
  readonly phase: 'off' | 'waiting' | 'running' | 'backingOff' | 'failed';
  readonly detail: string;
  readonly partitions: readonly PartitionProgress[];
}

const RESTART_MS = 10_000;
/** How long a stop waits for the store to have what the log holds. */
const DRAIN_MS = 5_000;
/** How long the insert under way may take after that. */
const STOP_MS = 15_000;
const STREAMS: readonly Stream[] = ['control', 'trajectories'];

/** Carries the log into the store, in this process, from the moment the store has its schema. */
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

  /** To be called once the store is ready. */
  start(): void {
    if (!this.config.runsSink || this.stopping.signal.aborted) return;
    this.isStarted = true;
    this.running = this.runUntilStopped();
  }

  /** Stops once the store has what was acknowledged in the log, so that its readers miss nothing; or without, after a while. */
  async onModuleDestroy(): Promise<void> {
    if (this.state.phase === 'running' || this.state.phase === 'backingOff') await this.drain();
    this.stopping.abort();
    // An insert or a read of a log that is away may try for minutes; the next sink reads where the store is.
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
        `stops before the store has all of the log (${reason}); the next sink goes on from there`,
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
          onNotice: (line) => {
            this.logger.error(line);
          },
        });
      } catch (error) {
        this.failure = error instanceof Error ? error.message : String(error);
        this.logger.error(`stopped, trying again in ${RESTART_MS / 1000} s: ${this.failure}`);
        await sleep(RESTART_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    await client.close();
  }
}
