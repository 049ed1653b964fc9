import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Up to which record of the control stream a receiver has the alarms, in a file, so that a server that starts again sends none twice. */
export class DeliveredPosition {
  /** @param path of the file; null: it is not kept */
  constructor(
    private readonly path: string | null,
    private readonly logId: string,
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
    } catch {
      // Not there yet, or cut short by a crash: what was raised meanwhile is on the pages.
      return null;
    }
  }

  write(nextOffset: number): void {
    if (this.path === null) return;
    mkdirSync(dirname(this.path), { recursive: true });
    writeFileSync(`${this.path}.new`, JSON.stringify({ logId: this.logId, nextOffset }));
    renameSync(`${this.path}.new`, this.path);
  }
}
