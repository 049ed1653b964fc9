import { ClickHouseException } from '../statement/clickhouse-exception.js';
import type { Engine } from './engine.js';
import { StoreServerError } from '../store-server-error.js';
import { WriteWatch } from './write-watch.js';

/** Merges write without a statement; their sources stay on disk for a minute (`old_parts_lifetime`). */
const CHECK_INTERVAL_MS = 5_000;

/** Fails every statement whose data the disk did not store, and all statements after it. */
export class DiskGuard {
  private readonly watch: WriteWatch;
  private readonly timer: NodeJS.Timeout;
  private failure: StoreServerError | null = null;

  constructor(
    engine: Engine,
    private readonly onFailure: (error: StoreServerError) => void = () => undefined,
  ) {
    this.watch = new WriteWatch(engine);
    this.timer = setInterval(() => {
      // A failed check is repeated at the next interval.
      this.look().catch(() => undefined);
    }, CHECK_INTERVAL_MS).unref();
  }

  /** @throws ClickHouseException CANNOT_WRITE_TO_FILE_DESCRIPTOR */
  async assertWritten(): Promise<void> {
    await this.look();
    this.assertServing();
  }

  /** @throws ClickHouseException CANNOT_WRITE_TO_FILE_DESCRIPTOR once the disk has failed */
  assertServing(): void {
    if (this.failure === null) return;
    throw ClickHouseException.of('CANNOT_WRITE_TO_FILE_DESCRIPTOR', this.failure.message);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    const broken = await this.watch.findBrokenParts();
    if (broken.length === 0 || this.failure !== null) return;
    this.failure = new StoreServerError(
      'STORE_DISK_FAILED',
      `The store's disk is full or failing: data of ${broken.join(', ')} was not stored. The store stops. Free space or replace the disk and start it again: it discards incomplete data, and the sink writes it again from the log.`,
      { retriable: true },
    );
    this.stop();
    this.onFailure(this.failure);
  }
}
