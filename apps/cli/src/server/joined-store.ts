import { setTimeout as sleep } from 'node:timers/promises';
import type { DataDirectory, ServerAddress } from '@retrace/process';
import type { EventLog } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import { openStoreClient } from '../services/connection.js';
import type { LogStream } from '../supervisor/log-stream.js';
import { askStore, PATIENCE_MS, type StoreOfRuns, warnOfBacklog } from './store-of-runs.js';

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

  async followEndedRun(): Promise<void> {
    const { directory, eventLog } = this.options;
    const deadlineMs = performance.now() + PATIENCE_MS;
    const { signal } = this.stopping;
    // A server that was started meanwhile will do as well.
    while (performance.now() < deadlineMs && directory.runningServer()?.hasSink === true) {
      if (signal.aborted || (await this.isUpToDate())) return;
      await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
    await warnOfBacklog(this.options.log, eventLog);
  }

  stop(): Promise<void> {
    this.stopping.abort();
    return Promise.resolve();
  }

  killAll(): void {
    this.stopping.abort();
  }

  /** Whether the store of the server that runs now has what is in the log. */
  private async isUpToDate(): Promise<boolean> {
    const { directory, eventLog } = this.options;
    const storeUrl = directory.runningServer()?.storeUrl;
    if (storeUrl === undefined) return false;
    const client = await openStoreClient(directory, { storeUrl });
    try {
      const { untilVisible } = await import('@retrace/store');
      await untilVisible(eventLog, client);
      return true;
    } catch {
      // Its server has ended, or is starting.
      return false;
    } finally {
      await client.close();
    }
  }
}
