import { ClickHouseException } from '../statement/clickhouse-exception.js';
import type { Engine } from './engine.js';
import { StoreServerError } from '../store-server-error.js';
import { WriteWatch } from './write-watch.js';

/** Merges write without a statement; their sources stay on disk for a minute (`old_parts_lifetime`). */
const CHECK_INTERVAL_MS = 5_000;

/** Lets no statement succeed whose data the disk did not take, and none after it. */
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
      // What can't be asked now is asked again.
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
      `The disk of the store did not take all that was written (of ${broken.join(', ')}): it is full or fails. The store ends; when it is started again it leaves out what is not whole, and the sink brings that once more.`,
      { retriable: true },
    );
    this.stop();
    this.onFailure(this.failure);
  }
}
