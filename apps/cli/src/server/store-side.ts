import type { DataDirectory } from '@retrace/process';
import { findFreePort } from '@retrace/process/free-port';
import type { EventLog } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import { CliError } from '../cli-error.js';
import { isJoined } from '../data-directory/hold-data-directory.js';
import type { LogStream } from '../supervisor/log-stream.js';
import type { RoleDefinition } from '../supervisor/role.js';
import { Supervisor } from '../supervisor/supervisor.js';
import { apiRole, FOLLOWS_THE_LOG, LOOPBACK, sinkRole } from '../roles/role-definitions.js';
import { defineStore } from '../roles/define-store.js';
import { askStore, followEndedRun, type StoreOfRuns } from './store-of-runs.js';

interface StoreSideOptions {
  readonly directory: DataDirectory;
  readonly eventLog: EventLog;
  readonly log: LogStream;
  readonly lockFileDescriptors: readonly number[];
  /** The API's port; with null there is no API and the sink has its own process. */
  readonly apiPort: number | null;
  /** Whether to go on with a store that has events of another log. */
  readonly acceptsOtherLog: boolean;
  /** Whether a run works that hands its episodes over through the log, so that it does not end with the store. */
  readonly runGoesOn: () => boolean;
  /** That the API shares with the proxy for agents. */
  readonly agentsKey: string;
  /** Answers what the API asks about the runs of this server. */
  readonly onRequest: NonNullable<RoleDefinition['onRequest']>;
}

/**
 * The store of a data directory with what fills and shows it: the store, and a sink, or the API that hosts one. It starts beside a run, which waits for
 * it only where it reads stored episodes, and what it lacks of the log comes whenever it works again.
 */
export class StoreSide implements StoreOfRuns {
  /** Rejects where it can't be, and no run goes on without it. */
  readonly serving: Promise<string>;
  /** Its store may be starting still. */
  readonly listening: Promise<string | null>;
  private listens: (apiUrl: string | null) => void = () => undefined;
  private readonly supervisor: Supervisor;
  private readonly stopping = new AbortController();

  private constructor(
    /** Known before the store listens there. */
    readonly url: string,
    private readonly options: StoreSideOptions,
    port: number,
  ) {
    const { log, lockFileDescriptors, runGoesOn } = options;
    this.supervisor = new Supervisor({ log, lockFileDescriptors, othersGoOn: runGoesOn });
    const listening = new Promise<string | null>((resolve) => (this.listens = resolve));
    this.serving = this.open(port);
    this.listening = Promise.race([listening, this.serving.then(() => listening)]);
    // Those who need it await it; `failure` tells the others.
    for (const reached of [this.serving, this.listening]) reached.catch(() => undefined);
  }

  /** @throws StoreError `STORE_OF_OTHER_LOG`, where this log is new and the store may be that of a lost one */
  static async start(options: StoreSideOptions): Promise<StoreSide> {
    const { directory } = options;
    // Runs that joined the last server look for the store where it was.
    const lastPort = isJoined(directory) ? directory.lastStorePort() : null;
    const port = await findFreePort(lastPort ?? undefined);
    const isUnsure = await isNewBesideOldStore(options);
    const side = new StoreSide(`http://${LOOPBACK}:${port}`, options, port);
    try {
      if (isUnsure) await side.serving;
      return side;
    } catch (error) {
      await side.stop();
      throw error;
    }
  }

  get failure(): Promise<Error> {
    return new Promise((resolve) => {
      void this.supervisor.failure.then(resolve);
      this.serving.catch((error: unknown) => {
        const reason = error instanceof Error ? error : new Error(String(error));
        if (this.isStopping) return;
        if (!this.options.runGoesOn() || isOfOtherLog(reason)) resolve(reason);
        else this.warn(`${reason.message}; the run goes on without a store`);
      });
    });
  }

  ask<T>(work: (client: StoreClient) => Promise<T>): Promise<T> {
    const { directory } = this.options;
    return askStore({ directory, storeUrl: this.url, isGone: () => this.isStopping }, work);
  }

  followEndedRun(): Promise<void> {
    const { log, eventLog } = this.options;
    const reaches = () =>
      this.serving.then(
        () => true,
        () => false,
      );
    return followEndedRun({ log, eventLog, stopping: this.stopping.signal, reaches });
  }

  /** Stops API or sink, and then the store. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.supervisor.stop();
    await this.serving.catch(() => undefined);
  }

  killAll(): void {
    this.stopping.abort();
    this.supervisor.killAll();
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private warn(message: string): void {
    this.options.log.write({ role: 'store', level: 'warn', message });
  }

  private async open(port: number): Promise<string> {
    const { supervisor, url: storeUrl } = this;
    const { directory, log, apiPort, acceptsOtherLog } = this.options;
    const isNewStore = !directory.hasStore;
    const definition = await defineStore(directory, {
      ...{ log, port },
      niceness: apiPort === null ? FOLLOWS_THE_LOG : 0,
    });
    const started = supervisor.start(definition);
    started.catch(() => undefined);
    // What is in a store that is there must be known before a sink writes to it. A page needs no store to begin with, but a sink does.
    const isUnsure = !acceptsOtherLog && !isNewStore;
    if (isUnsure || apiPort === null) await started;
    if (isUnsure) await this.refuseOtherLogs();
    if (this.isStopping) throw new CliError('ROLE_FAILED', 'the store was stopped before it was ready');
    const [apiUrl] = await Promise.all([this.startReaders(), started]);
    directory.announceServer({
      ...{ pid: process.pid, apiUrl: apiUrl ?? '', storeUrl, hasSink: true },
      startedAt: new Date().toISOString(),
    });
    return storeUrl;
  }

  /** @throws StoreError `STORE_OF_OTHER_LOG` */
  private async refuseOtherLogs(): Promise<void> {
    const { refuseOtherLogs } = await import('@retrace/store');
    await this.ask((client) => refuseOtherLogs(client, this.options.eventLog.logId));
  }

  /** Starts the API, or a sink where there is none; resolves to the API's address once it is ready. */
  private async startReaders(): Promise<string | null> {
    const { supervisor, url: storeUrl } = this;
    const { directory, apiPort, agentsKey, onRequest } = this.options;
    if (apiPort === null) {
      this.listens(null);
      await supervisor.start(sinkRole({ directory, storeUrl }));
      return null;
    }
    const onListening = this.listens;
    const { url = null } = await supervisor.start(
      apiRole({ directory, storeUrl, port: apiPort, agentsKey, onListening, onRequest }),
    );
    return url;
  }
}

function isOfOtherLog(error: Error): boolean {
  return 'code' in error && error.code === 'STORE_OF_OTHER_LOG';
}

/** A log without a run beside a store that is there already: the one that the store is of may have been lost. */
async function isNewBesideOldStore({ directory, eventLog }: StoreSideOptions): Promise<boolean> {
  return directory.hasStore && (await eventLog.endOffset('control', 0)) <= 1;
}
