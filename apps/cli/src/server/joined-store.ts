import { setTimeout as sleep } from 'node:timers/promises';
import type { DataDirectory, ServerAddress } from '@retrace/process';
import type { EventLog } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import { openStoreClient } from '../services/connection.js';
import type { LogStream } from '../supervisor/log-stream.js';
import { askStore, followEndedRun, type StoreOfRuns } from './store-of-runs.js';

const LOOK_AGAIN_MS = 500;

interface JoinedStoreOptions {
  readonly server: ServerAddress;
  readonly directory: DataDirectory;
  readonly eventLog: EventLog;
  readonly log: LogStream;
}

/** The store of a server that this process has joined. It goes on without that server: the log has everything, and the next server fills the store. */
export class JoinedStore implements StoreOfRuns {
  readonly url: string;
  readonly serving: Promise<string>;
  readonly listening = Promise.resolve(null);
  readonly failure = new Promise<Error>(() => undefined);
  private readonly stopping = new AbortController();

  constructor(private readonly options: JoinedStoreOptions) {
    this.url = options.server.storeUrl;
    this.serving = Promise.resolve(this.url);
  }

  ask<T>(work: (client: StoreClient) => Promise<T>): Promise<T> {
    const { directory } = this.options;
    return askStore({ directory, storeUrl: this.url, isGone: () => this.stopping.signal.aborted }, work);
  }

  followEndedRun(): Promise<void> {
    const { log, eventLog } = this.options;
    const reaches = (signal: AbortSignal) => this.reachesLog(signal);
    return followEndedRun({ log, eventLog, stopping: this.stopping.signal, reaches });
  }

  stop(): Promise<void> {
    this.stopping.abort();
    return Promise.resolve();
  }

  killAll(): void {
    this.stopping.abort();
  }

  /** Whether the store has what is in the log before its server has ended. A server that was started meanwhile will do as well. */
  private async reachesLog(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && this.options.directory.runningServer()?.hasSink === true) {
      if (await this.isUpToDate(signal)) return true;
      await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
    return false;
  }

  /** Whether the store of the server that runs now has what is in the log. */
  private async isUpToDate(signal: AbortSignal): Promise<boolean> {
    const { directory, eventLog } = this.options;
    const storeUrl = directory.runningServer()?.storeUrl;
    if (storeUrl === undefined) return false;
    const client = await openStoreClient(directory, { storeUrl });
    try {
      const { untilVisible } = await import('@retrace/store');
      await untilVisible(eventLog, client, { signal });
      return true;
    } catch {
      // Its server has ended or is starting, or this took too long.
      return false;
    } finally {
      await client.close();
    }
  }
}
