import { setTimeout as sleep } from 'node:timers/promises';
import type { BackendChoice, DataDirectory } from '@retrace/process';
import { checkpointStorageFor, logOf } from '../services/environment.js';
import { engineOf, isColocated, needsCollector, needsValidator, type Recipe } from '@retrace/config';
import type { ControlFold, RunState } from '@retrace/trajectory';
import type { EventLog, WarningLog } from '@retrace/log';
import { CliError } from '../cli-error.js';
import { holdDataDirectory, type HeldDataDirectory } from '../data-directory/hold-data-directory.js';
import { CREATED_BY, readCodeVersion } from '../installation.js';
import { beginRun, type BegunRun } from '../run/begin-run.js';
import { completeData, type DataSession } from '../run/complete-data.js';
import { announceRun } from '../run/announce-run.js';
import { recordBaselines } from '../run/record-baselines.js';
import { followControlEvents } from '../run/follow-control-events.js';
import { RunProgress, summarizeRun, type RunSummary } from '../run/run-progress.js';
import { startMetricsExport, type MetricsExport, type MetricsOptions } from '../run/metrics-export.js';
import { readControlState } from '../services/control-state.js';
import type { LogStream } from '../supervisor/log-stream.js';
import { Supervisor } from '../supervisor/supervisor.js';
import { WarningRecorder } from '../supervisor/warning-recorder.js';
import { assertDiskSpace, watchDisk } from './disk-watch.js';
import { prepareBackend } from './prepare-backend.js';
import { colocatedRole, collectorRole, trainerRole, validatorRole } from './role-definitions.js';
import { StoreSide } from './store-side.js';

export interface TrainingServerOptions {
  readonly dataDirectory: string;
  readonly log: LogStream;
  /** Whether there is no store: then a run has its log, its checkpoints and its files of metrics (default: there is one). */
  readonly withoutStore?: boolean;
  /** The API's port; with null there is no API and the sink has its own process. */
  readonly apiPort: number | null;
  /** Whether to go on with a store that has events of another log. */
  readonly acceptsOtherLog: boolean;
}

/** Makes the recipe of a run on stored data, once the store is there. */
export type RecipeOfData = (session: DataSession, state: ControlFold) => Promise<Recipe>;

/** So long at most what can wait does wait for the first update of a run. */
const LONGEST_START_MS = 15_000;

interface TrainingRequest {
  readonly backend?: BackendChoice;
  readonly numCollectors: number;
  /** Steps of priority that trainer and collectors are below API and store. */
  readonly niceness: number;
  /** Where metrics go beside the log. */
  readonly metrics: MetricsOptions;
}

interface TrainingServerParts {
  readonly dataDirectory: string;
  readonly held: HeldDataDirectory;
  /** Of the roles of a run. */
  readonly supervisor: Supervisor;
  readonly eventLog: EventLog;
  readonly log: WarningRecorder;
  /** Null without a store. */
  readonly storeSide: StoreSide | null;
}

/** Holds a data directory, starts the store side beside the roles of a run, and stops the roles of the run before it. */
export class TrainingServer {
  private readonly ending = new AbortController();
  private measuring: Promise<void> | null = null;
  private warnings: WarningLog | null = null;
  private metricsExport: MetricsExport | null = null;
  /** Aborts once a run of this server has an update, or has ended. */
  private readonly updated = new AbortController();

  private constructor(
    private readonly parts: TrainingServerParts,
    private readonly run: { goesOnWithoutStore: boolean },
  ) {}

  /** Resolves to the API's address once it listens; to null without an API. The store may be starting still. */
  async whenListening(): Promise<string | null> {
    return (await this.parts.storeSide?.listening) ?? null;
  }

  /** Resolves once store and API are up; at once without a store. */
  async whenServing(): Promise<void> {
    await this.parts.storeSide?.serving;
  }

  /** @throws CliError, ProcessError or LogError when the server can't start; nothing is left running then */
  static async start(options: TrainingServerOptions): Promise<TrainingServer> {
    const { dataDirectory } = options;
    const log = new WarningRecorder(options.log);
    const held = await holdDataDirectory(dataDirectory, (message) => {
      log.write({ role: 'retrace', level: 'info', message });
    });
    const { directory, lock } = held;
    const { fileDescriptor: lockFileDescriptor } = lock;
    const supervisor = new Supervisor({ log, lockFileDescriptor });
    const run = { goesOnWithoutStore: false };
    let eventLog: EventLog | null = null;
    let storeSide: StoreSide | null = null;
    try {
      await assertDiskSpace({ path: directory.root, shownAs: dataDirectory });
      const storage = checkpointStorageFor(directory);
      if (storage !== null) directory.keepCheckpointStorage(storage);
      log.write({ role: 'retrace', level: 'info', message: describeStart(options) });
      eventLog = await openLog(directory);
      const runGoesOn = () => run.goesOnWithoutStore;
      const side = { ...options, directory, eventLog, log, lockFileDescriptor, runGoesOn };
      if (options.withoutStore !== true) storeSide = await StoreSide.start(side);
      return new TrainingServer({ dataDirectory, held, supervisor, eventLog, log, storeSide }, run);
    } catch (error) {
      await storeSide?.stop();
      await eventLog?.close();
      lock.release();
      throw error;
    }
  }

  /** Aborts when the server starts to stop. */
  get stopping(): AbortSignal {
    return this.ending.signal;
  }

  /**
   * Resolves when the server is stopped.
   *
   * @throws CliError `ROLE_FAILED` once a role has failed permanently, `DISK_FULL`
   */
  async watch(): Promise<void> {
    const { held, supervisor, storeSide, dataDirectory } = this.parts;
    const { signal } = this.ending;
    const failures = [supervisor.failure, ...(storeSide ? [storeSide.failure] : [])];
    const failed = Promise.race(failures).then((error) => Promise.reject(error));
    await Promise.race([failed, watchDisk({ path: held.directory.root, shownAs: dataDirectory }, signal)]);
  }

  /** Starts the recipe's run, or resumes the unfinished one; resolves when the run and its roles have ended. The collectors share each round. */
  async train(
    asked: Recipe | RecipeOfData,
    { backend, numCollectors, niceness, metrics }: TrainingRequest,
  ): Promise<RunSummary> {
    const { ending } = this;
    const { held, log, eventLog, storeSide, supervisor } = this.parts;
    const { directory, lock } = held;
    const storeUrl = storeSide?.url ?? null;
    const state = await readControlState(eventLog);
    const [begun] = await Promise.all([
      this.beginRun(asked, state),
      backend === undefined
        ? prepareBackend({ log, lockFileDescriptor: lock.fileDescriptor, signal: ending.signal })
        : undefined,
    ]);
    const { runId, recipe } = begun;
    this.run.goesOnWithoutStore = !recipe.data;
    await this.recordWarnings(runId);
    this.metricsExport = await this.exportMetrics(begun, metrics);
    const roles: string[] = [];
    const ended = this.followRun(begun, state);
    // A run that was just started is not in the state yet.
    if ((needsCollector(recipe) || needsValidator(recipe)) && !state.run(runId)?.hasBaselines)
      this.measuring = this.recordBaselinesLater(recipe, runId);
    if (!ending.signal.aborted) {
      this.say('run', announceRun(begun));
      const hasRunEnded = () => state.run(runId)?.ended !== null;
      const { metricsPort } = metrics;
      const engine = engineOf(recipe);
      const role = { directory, storeUrl, runId, backend, hasRunEnded, niceness, metricsPort };
      const count = needsCollector(recipe) ? numCollectors : 0;
      const shares = Array.from({ length: count }, (_, index) => ({ index, count }));
      const definitions = [
        ...(isColocated(recipe, count)
          ? [colocatedRole({ ...role, engine })]
          : [trainerRole({ ...role, engine }), ...shares.map((share) => collectorRole({ ...role, share }))]),
        ...(needsValidator(recipe) ? [validatorRole({ ...role, numCollectors: count })] : []),
      ];
      roles.push(...definitions.map(({ name }) => name));
      await Promise.all(
        definitions.map(async (definition) => {
          if (definition.name === 'validator' && !(await this.afterStart())) return;
          const { detail } = await supervisor.start(definition);
          if (detail !== undefined) this.say(definition.name, detail);
        }),
      );
    }
    await ended;
    await Promise.all(roles.map((name) => supervisor.whenEnded(name)));
    await this.metricsExport.end();
    if (!ending.signal.aborted) await storeSide?.followEndedRun();
    this.run.goesOnWithoutStore = false;
    return summarizeRun(runOf(state, runId));
  }

  /** Begins a run, or finds the one to resume. A recipe on stored data finds out what data there is. */
  private async beginRun(asked: Recipe | RecipeOfData, state: ControlFold): Promise<BegunRun> {
    const { held, eventLog, storeSide } = this.parts;
    const { directory } = held;
    const codeVersion = await readCodeVersion();
    if (typeof asked !== 'function' && !asked.data)
      return beginRun(eventLog, state, { recipe: asked, codeVersion });
    if (storeSide === null) {
      const rule = 'stored episodes are in the store; leave out --no-store';
      throw new CliError('OPTION_INVALID', `--no-store: got it with a recipe on stored episodes; ${rule}`);
    }
    const storeUrl = await storeSide.serving;
    const { untilVisible } = await import('@retrace/store');
    return storeSide.ask(async (client) => {
      const catchUp = () => untilVisible(eventLog, client);
      const session = { client, log: eventLog, directory, storeUrl, catchUp };
      await catchUp();
      const recipe = typeof asked === 'function' ? await asked(session, state) : asked;
      const onNotice = (line: string) => {
        this.say('run', line);
      };
      return beginRun(eventLog, state, {
        recipe,
        codeVersion,
        completeData: (incomplete) => completeData(incomplete, { session, state, onNotice }),
      });
    });
  }

  /** Stops collectors, validator, trainer, API or sink, and store, in this order, and releases the data directory. */
  async stop(): Promise<void> {
    const { held, eventLog, supervisor, storeSide } = this.parts;
    this.ending.abort();
    await supervisor.stop();
    await storeSide?.stop();
    await this.metricsExport?.end();
    await this.measuring;
    await this.warnings?.flush();
    held.directory.withdrawServer();
    await eventLog.close();
    held.lock.release();
  }

  killAll(): void {
    this.parts.supervisor.killAll();
    this.parts.storeSide?.killAll();
  }

  /** Logs the progress of the run; resolves when the run or this server has ended. */
  private async followRun({ runId, recipe }: BegunRun, state: ControlFold): Promise<void> {
    const progress = new RunProgress(recipe);
    for await (const { event, offset } of followControlEvents(
      this.parts.eventLog,
      state.nextOffset,
      this.ending.signal,
    )) {
      const { applied } = state.apply(event, offset);
      if (event.runId !== runId || !applied) continue;
      const run = runOf(state, runId);
      if (run.updates.lastUpdate !== null || run.ended !== null) this.updated.abort();
      const line = progress.describe(event, run);
      if (line !== null) this.say('run', line);
      if (run.ended !== null) return;
    }
  }

  private exportMetrics(
    { runId, recipe: { name } }: BegunRun,
    metrics: MetricsOptions,
  ): Promise<MetricsExport> {
    const { eventLog, log } = this.parts;
    const onNotice = (message: string) => {
      log.write({ role: 'retrace', level: 'warn', message });
    };
    return startMetricsExport(eventLog, { ...metrics, runId, name, onNotice });
  }

  /** Makes what the supervisor warns of from now on events of the run. */
  private async recordWarnings(runId: string): Promise<void> {
    const { ControlTail, WarningLog } = await import('@retrace/log');
    this.warnings = new WarningLog({ control: new ControlTail(this.parts.eventLog), runId });
    this.parts.log.recordTo(this.warnings);
  }

  private recordBaselines(recipe: Recipe, runId: string): Promise<void> {
    const { eventLog, log } = this.parts;
    const onNotice = (message: string) => {
      log.write({ role: 'retrace', level: 'warn', message });
    };
    return recordBaselines({ log: eventLog, runId, recipe, signal: this.ending.signal, onNotice });
  }

  private async recordBaselinesLater(recipe: Recipe, runId: string): Promise<void> {
    if (await this.afterStart()) await this.recordBaselines(recipe, runId);
  }

  /**
   * Waits for the first update of the run, for work that nobody waits for: until then every process wants a processor. Resolves to false where the server
   * stops first.
   */
  private async afterStart(): Promise<boolean> {
    const { signal } = this.ending;
    const hasUpdate = AbortSignal.any([signal, this.updated.signal]);
    await sleep(LONGEST_START_MS, undefined, { signal: hasUpdate }).catch(() => undefined);
    return !signal.aborted;
  }

  private say(role: string, message: string): void {
    this.parts.log.write({ role, level: 'info', message });
  }
}

function runOf(state: ControlFold, runId: string): RunState {
  const run = state.run(runId);
  if (!run) throw new CliError('RUN_UNKNOWN', `run "${runId}" not found in this log`);
  return run;
}

function describeStart({ apiPort, withoutStore }: TrainingServerOptions): string {
  if (withoutStore === true) return 'starting without a store';
  return apiPort === null ? 'starting the store and the sink' : 'starting the store and the API';
}

async function openLog(directory: DataDirectory): Promise<EventLog> {
  const { openLog: openLogAt } = await import('@retrace/log');
  return openLogAt(logOf(directory), CREATED_BY);
}
