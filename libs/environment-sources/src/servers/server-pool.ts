import { EnvironmentSourceError } from '../errors.js';
import type { ServerProcess } from './server-process.js';

/** A place for one environment on one server. */
export interface Lease {
  readonly url: string;
  /** Counts an episode; false where the server is to be replaced, so that the place must be given back and taken again. */
  beginEpisode(): boolean;
  /** Gives the place back. After a failure the server is asked whether it still answers. */
  release(hasFailed: boolean): void;
}

export interface PooledServer {
  /** Null where the address is that of a server that others run. */
  readonly process: ServerProcess | null;
  url: string;
}

export interface ServerPoolOptions {
  readonly servers: readonly PooledServer[];
  readonly maxEpisodes: number;
  /** Null: a server is never replaced because of its age. */
  readonly recycleAfterEpisodes: number | null;
}

interface Entry {
  readonly server: PooledServer;
  numTaken: number;
  numEpisodes: number;
  /** Set while the server is being replaced: it takes no environment. */
  isClosed: boolean;
}

/** Divides environments among servers, the emptiest first; replaces those that are old or do not answer. */
export class ServerPool {
  private readonly entries: readonly Entry[];
  private readonly waiting: {
    readonly resolve: (lease: Lease) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  private failure: Error | null = null;

  constructor(private readonly options: ServerPoolOptions) {
    this.entries = options.servers.map((server) => ({
      server,
      numTaken: 0,
      numEpisodes: 0,
      isClosed: false,
    }));
  }

  /** Most environments at the same time. */
  get capacity(): number {
    return this.options.maxEpisodes * this.entries.length;
  }

  /** Resolves when there is a place. */
  take(): Promise<Lease> {
    if (this.failure) return Promise.reject(this.failure);
    const place = new Promise<Lease>((resolve, reject) => this.waiting.push({ resolve, reject }));
    this.serve();
    return place;
  }

  /** Stops the servers that this pool started. */
  async close(): Promise<void> {
    this.fail(new EnvironmentSourceError('SERVER_FAILED', 'the servers were stopped'));
    await Promise.all(this.entries.map(async ({ server }) => server.process?.stop()));
  }

  private serve(): void {
    while (this.waiting.length > 0) {
      const open = this.entries.filter(
        ({ isClosed, numTaken }) => !isClosed && numTaken < this.options.maxEpisodes,
      );
      if (open.length === 0) return;
      const entry = open.reduce((least, other) => (other.numTaken < least.numTaken ? other : least));
      entry.numTaken += 1;
      this.waiting.shift()?.resolve(this.leaseOf(entry));
    }
  }

  private leaseOf(entry: Entry): Lease {
    let isReleased = false;
    const { recycleAfterEpisodes } = this.options;
    return {
      url: entry.server.url,
      beginEpisode: () => {
        if (entry.isClosed) return false;
        entry.numEpisodes += 1;
        if (
          recycleAfterEpisodes !== null &&
          entry.server.process &&
          entry.numEpisodes > recycleAfterEpisodes
        ) {
          entry.isClosed = true;
          return false;
        }
        return true;
      },
      release: (hasFailed) => {
        if (isReleased) return;
        isReleased = true;
        entry.numTaken -= 1;
        void this.settle(entry, hasFailed);
      },
    };
  }

  /** After a place was given back: replaces the server where it is due and empty, or no longer answers. */
  private async settle(entry: Entry, hasFailed: boolean): Promise<void> {
    const { process } = entry.server;
    if (process) {
      // Until it is known whether the server answers, it takes no environment.
      const wasClosed = entry.isClosed;
      entry.isClosed ||= hasFailed;
      const isBroken = hasFailed && !wasClosed && !(await process.answers());
      if (isBroken || (wasClosed && entry.numTaken === 0)) await this.replace(entry, process);
      else entry.isClosed = wasClosed;
    }
    this.serve();
  }

  private async replace(entry: Entry, process: ServerProcess): Promise<void> {
    try {
      entry.server.url = await process.restart();
      entry.numEpisodes = 0;
      entry.isClosed = false;
    } catch (error) {
      this.fail(error as Error);
    }
  }

  private fail(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }
}
