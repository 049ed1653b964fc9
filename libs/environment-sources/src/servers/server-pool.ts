import type { ServerProcess } from '@retrace/process';
import { EnvironmentSourceError } from '../errors.js';

/** A place for one environment on one server. */
export interface Lease {
  readonly url: string;
  /** Counts an episode; false where the server is to be replaced, so that the place must be given back and taken again. */
  beginEpisode(): boolean;
  /** Says that no episode is under way on the place. `leave` must give it back: it is called if the server is to be replaced before the next one. */
  endEpisode(leave: () => void): void;
  /** Gives the place back. After a failure the server is asked whether it still answers. */
  release(hasFailed: boolean): void;
}

export interface PooledServer {
  /** Null where the address is that of a server that others run. */
  readonly process: ServerProcess | null;
  readonly url: string;
}

export interface ServerPoolOptions {
  readonly servers: readonly PooledServer[];
  readonly maxEpisodes: number;
  /** Null: a server is never replaced because of its age. */
  readonly recycleAfterEpisodes: number | null;
}

/** A place that was taken. */
interface Place {
  /** Gives the place back between two episodes; null while one is under way. */
  leave: (() => void) | null;
}

/** A server from a start to its end. */
interface Life {
  readonly url: string;
  readonly places: Set<Place>;
  numEpisodes: number;
  /** Checks under way whether it still answers. Until they are done it begins no episode. */
  numChecks: number;
  /** Begins no further episode, and is replaced once all its places are given back. */
  isOld: boolean;
  /** Is being replaced, or was. */
  isOver: boolean;
}

interface Entry {
  readonly process: ServerProcess | null;
  life: Life;
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
    this.entries = options.servers.map(({ process, url }) => ({ process, life: startLife(url) }));
  }

  /** Most environments at the same time. */
  get capacity(): number {
    return this.options.maxEpisodes * this.entries.length;
  }

  /** Resolves when there is a place. */
  take(): Promise<Lease> {
    if (this.failure) return Promise.reject(this.failure);
    const lease = new Promise<Lease>((resolve, reject) => this.waiting.push({ resolve, reject }));
    this.serve();
    return lease;
  }

  /** Stops the servers that this pool started. */
  async close(): Promise<void> {
    this.fail(new EnvironmentSourceError('SERVER_FAILED', 'the servers were stopped'));
    await Promise.all(this.entries.map(async ({ process }) => process?.stop()));
  }

  private serve(): void {
    while (this.waiting.length > 0) {
      const open = this.entries.filter(
        ({ life }) => takesEpisodes(life) && life.places.size < this.options.maxEpisodes,
      );
      if (open.length === 0) return;
      const entry = open.reduce((least, other) =>
        other.life.places.size < least.life.places.size ? other : least,
      );
      this.waiting.shift()?.resolve(this.leaseOf(entry));
    }
  }

  private leaseOf(entry: Entry): Lease {
    const { life } = entry;
    const place: Place = { leave: null };
    life.places.add(place);
    return {
      url: life.url,
      beginEpisode: () => {
        place.leave = null;
        if (takesEpisodes(life)) this.count(entry);
        return takesEpisodes(life);
      },
      endEpisode: (leave) => {
        place.leave = leave;
        if (life.isOld || life.isOver) callBack(life);
      },
      release: (hasFailed) => {
        if (life.places.delete(place)) void this.settle(entry, life, hasFailed);
      },
    };
  }

  /** Counts an episode that begins; if that is one too many, the server is old, and does not get it. */
  private count({ process, life }: Entry): void {
    const { recycleAfterEpisodes } = this.options;
    life.numEpisodes += 1;
    if (process === null || recycleAfterEpisodes === null || life.numEpisodes <= recycleAfterEpisodes) return;
    life.isOld = true;
    callBack(life);
  }

  /** After a place was given back: replaces the server where it is old and empty, or no longer answers. */
  private async settle(entry: Entry, life: Life, hasFailed: boolean): Promise<void> {
    const { process } = entry;
    if (process) {
      const isBroken = hasFailed && !life.isOver && !(await answers(process, life));
      const isEmptied = life.isOld && life.places.size === 0;
      if ((isBroken || isEmptied) && !life.isOver) await this.replace(entry, process);
    }
    this.serve();
  }

  private async replace(entry: Entry, process: ServerProcess): Promise<void> {
    entry.life.isOver = true;
    callBack(entry.life);
    try {
      entry.life = startLife(await process.restart());
    } catch (error) {
      this.fail(error as Error);
    }
  }

  private fail(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }
}

function startLife(url: string): Life {
  return { url, places: new Set(), numEpisodes: 0, numChecks: 0, isOld: false, isOver: false };
}

function takesEpisodes({ numChecks, isOld, isOver }: Life): boolean {
  return numChecks === 0 && !isOld && !isOver;
}

/** Asks for the places on which no episode is under way: nobody else would give them back until another episode begins there. */
function callBack({ places }: Life): void {
  for (const place of [...places]) {
    const { leave } = place;
    place.leave = null;
    leave?.();
  }
}

async function answers(process: ServerProcess, life: Life): Promise<boolean> {
  life.numChecks += 1;
  const isAnswering = await process.answers();
  life.numChecks -= 1;
  return isAnswering;
}
