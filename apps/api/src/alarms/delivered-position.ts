import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

/** Up to which record of the control stream a receiver has the alarms, in a file, so that a server that starts again sends none twice. */
export class DeliveredPosition {
  private hasFailed = false;

  /**
   * @param path of the file; null: it is not kept
   * @param warn told once that the file can't be read or written; alarms are sent all the same
   */
  constructor(
    private readonly path: string | null,
    private readonly logId: string,
    private readonly warn: (message: string) => void,
  ) {}

  /** The offset of the next record; null where there is none of this log. */
  read(): number | null {
    if (this.path === null) return null;
    try {
      const { logId, nextOffset } = JSON.parse(readFileSync(this.path, 'utf8')) as {
        readonly logId?: unknown;
        readonly nextOffset?: unknown;
      };
      return logId === this.logId && Number.isSafeInteger(nextOffset) ? (nextOffset as number) : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.fail('read', error);
      return null;
    }
  }

  write(nextOffset: number): void {
    if (this.path === null) return;
    const draft = `${this.path}.${hostname()}-${process.pid}`;
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      writeFileSync(draft, JSON.stringify({ logId: this.logId, nextOffset }), { flush: true });
      renameSync(draft, this.path);
    } catch (error) {
      this.fail('write', error);
    }
  }

  private fail(what: string, error: unknown): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    this.warn(
      `can't ${what} ${this.path ?? ''}: ${(error as Error).message}; alarms may be sent twice or not at all after a restart`,
    );
  }
}
