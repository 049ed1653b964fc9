import type { RunningServer } from '@retrace/gateway/serve';

/** A server that answers until it is given back. */
export interface UsedServer {
  readonly url: string;
  release(): void;
}

/** The parts of a server that are used here. */
type OpenServer = Pick<RunningServer, 'url' | 'close'>;

interface Entry {
  readonly opening: Promise<OpenServer>;
  /** Answers under way. */
  numUsers: number;
}

/** Servers by key, each opened once. Beyond the limit, those that answer nothing are closed, the one that was used least lately first. */
export class OpenServers {
  /** The one that was used last is the last. */
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly maxOpen: number) {}

  /** Rejects with the reason where the server can't be opened; the next use tries again. */
  async use(key: string, open: () => Promise<OpenServer>): Promise<UsedServer> {
    const entry = this.entries.get(key) ?? { opening: open(), numUsers: 0 };
    this.entries.delete(key);
    this.entries.set(key, entry);
    entry.numUsers++;
    this.closeIdle();
    try {
      const { url } = await entry.opening;
      return { url, release: once(() => this.release(entry)) };
    } catch (error) {
      if (this.entries.get(key) === entry) this.entries.delete(key);
      throw error;
    }
  }

  async close(): Promise<void> {
    const entries = [...this.entries.values()];
    this.entries.clear();
    for (const { opening } of entries) await closeOpening(opening);
  }

  private release(entry: Entry): void {
    entry.numUsers--;
    this.closeIdle();
  }

  private closeIdle(): void {
    for (const [key, { opening, numUsers }] of [...this.entries]) {
      if (this.entries.size <= this.maxOpen) return;
      if (numUsers > 0) continue;
      this.entries.delete(key);
      void closeOpening(opening);
    }
  }
}

/** Closes a server, also one that is opening still; one that could not be opened needs nothing. */
function closeOpening(opening: Promise<OpenServer>): Promise<void> {
  return opening.then((server) => server.close()).catch(() => undefined);
}

function once(work: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    work();
  };
}
