import type { DataDirectory, Recipe } from '@retrace/config';
import type { EventLog } from '@retrace/trajectory';
import type { CliError } from '../cli-error.js';
import { holdDataDirectory, type HeldDataDirectory } from '../data-directory/hold-data-directory.js';
import { createdBy, readCodeVersion } from '../installation.js';
import { beginRun } from '../run/begin-run.js';
import { followControlEvents, readControlEvents } from '../run/control-events.js';
import { RunProgress, type RunSummary } from '../run/run-progress.js';
import type { LogStream } from '../supervisor/log-stream.js';
import { Supervisor } from '../supervisor/supervisor.js';
import { prepareBackend } from './prepare-backend.js';
import {
  apiRole,
  collectorRole,
  sinkRole,
  storeRole,
  trainerRole,
  type BackendName,
} from './role-definitions.js';

const numBaselineEpisodes = 1000;

export interface TrainingServerOptions {
  readonly dataDirectory: string;
  readonly log: LogStream;
  /** The API's port; null = no API, and the sink in a process of its own. */
  readonly apiPort: number | null;
}

/** All roles on one data directory: holds it, starts them in order of dependency, runs a recipe, stops them in order. */
export class TrainingServer {
  readonly apiUrl: string | null;
  private readonly ending = new AbortController();

  private constructor(
    private readonly held: HeldDataDirectory,
    private readonly supervisor: Supervisor,
    private readonly eventLog: EventLog,
    private readonly log: LogStream,
    private readonly addresses: { readonly storeUrl: string; readonly apiUrl: string | null },
  ) {
    this.apiUrl = addresses.apiUrl;
  }

  /** @throws CliError, ConfigError or LogError saying why it can't start; nothing is left running then. */
  static async start({ dataDirectory, log, apiPort }: TrainingServerOptions): Promise<TrainingServer> {
    const held = await holdDataDirectory(dataDirectory, (message) => {
      log.write({ role: 'retrace', level: 'info', message });
    });
    const { directory, lock } = held;
    const supervisor = new Supervisor({ log, lockFileDescriptor: lock.fileDescriptor });
    let eventLog: EventLog | null = null;
    try {
      const openingLog = openLog(directory);
      const store = await supervisor.start(storeRole(directory));
      eventLog = await openingLog;
      const addresses = await startServing(supervisor, directory, store.url ?? '', apiPort);
      directory.announceServer({
        pid: process.pid,
        apiUrl: addresses.apiUrl ?? '',
        storeUrl: addresses.storeUrl,
        startedAt: new Date().toISOString(),
      });
      return new TrainingServer(held, supervisor, eventLog, log, addresses);
    } catch (error) {
      await supervisor.stop();
      await eventLog?.close();
      lock.release();
      throw error;
    }
  }

  /** Resolves with the reason when a role has failed for good. */
  get failure(): Promise<CliError> {
    return this.supervisor.failure;
  }

  /** Begins the recipe's run, or takes up its unfinished one, and resolves when it has ended and its roles are done. */
  async train(recipe: Recipe, backend: BackendName | undefined): Promise<RunSummary> {
    const { log, eventLog, supervisor, ending } = this;
    const { directory, lock } = this.held;
    const [run] = await Promise.all([
      beginRun(eventLog, {
        recipe,
        codeVersion: await readCodeVersion(),
        measureBaselines: async () => {
          const { measureBaselines } = await import('../run/measure-baselines.js');
          const { environment, seed } = recipe;
          return measureBaselines({ environment, seed, numEpisodes: numBaselineEpisodes });
        },
      }),
      backend === undefined
        ? prepareBackend({ log, lockFileDescriptor: lock.fileDescriptor, signal: ending.signal })
        : undefined,
    ]);
    const progress = new RunProgress(run.runId, recipe.numUpdates);
    const ended = this.followRun(progress, await readHistory(eventLog, progress));
    if (ending.signal.aborted) return progress.summary();
    log.write({
      role: 'run',
      level: 'info',
      message: `${run.isResumed ? 'going on with' : 'started'} ${recipe.name}, run ${run.runId}`,
    });
    const { storeUrl } = this.addresses;
    const role = { directory, storeUrl, runId: run.runId, backend, hasRunEnded: () => progress.hasEnded };
    await Promise.all([supervisor.start(trainerRole(role)), supervisor.start(collectorRole(role))]);
    await ended;
    await Promise.all([supervisor.whenEnded('trainer'), supervisor.whenEnded('collector')]);
    return progress.summary();
  }

  /** Stops collector, trainer, API or sink, and store, in this order, and lets go of the data directory. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.supervisor.stop();
    this.held.directory.withdrawServer();
    await this.eventLog.close();
    this.held.lock.release();
  }

  killAll(): void {
    this.supervisor.killAll();
  }

  /** Writes what a person should read about the run as it happens; resolves when it has ended, or this server ends. */
  private async followRun(progress: RunProgress, fromOffset: number): Promise<void> {
    for await (const { event } of followControlEvents(this.eventLog, fromOffset, this.ending.signal)) {
      const line = progress.add(event);
      if (line !== null) this.log.write({ role: 'run', level: 'info', message: line });
      if (progress.hasEnded) return;
    }
  }
}

async function openLog(directory: DataDirectory): Promise<EventLog> {
  const { openLmdbLog } = await import('@retrace/trajectory/lmdb');
  return openLmdbLog({ path: directory.log, createdBy });
}

/** Brings `progress` to where the log is; returns the next offset. */
async function readHistory(eventLog: EventLog, progress: RunProgress): Promise<number> {
  let next = 0;
  for await (const { offset, event } of readControlEvents(eventLog)) {
    progress.add(event);
    next = offset + 1;
  }
  return next;
}

async function startServing(
  supervisor: Supervisor,
  directory: DataDirectory,
  storeUrl: string,
  apiPort: number | null,
): Promise<{ storeUrl: string; apiUrl: string | null }> {
  if (apiPort === null) {
    await supervisor.start(sinkRole(directory, storeUrl));
    return { storeUrl, apiUrl: null };
  }
  const api = await supervisor.start(apiRole({ directory, storeUrl, port: apiPort }));
  return { storeUrl, apiUrl: api.url ?? null };
}
