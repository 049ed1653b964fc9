import { mintKey, type DataDirectory, type ServerAddress } from '@retrace/process';
import { checkpointStorageFor, locateLog } from '../data-directory/environment.js';
import type { Recipe } from '@retrace/config';
import { readControlState, type EventLog } from '@retrace/log';
import type { RunSummary } from '@retrace/runs';
import { RunQueue } from '@retrace/runs/queue';
import { CliError } from '../cli-error.js';
import {
  holdDataDirectory,
  joinOrHoldDataDirectory,
  type HeldDataDirectory,
} from '../data-directory/hold-data-directory.js';
import { CREATED_BY } from '../installation.js';
import { sayChosenRun } from '../run/said-runs.js';
import { environmentAssignments } from '../run/training-recipe.js';
import { openCheckpoints } from '../services/checkpoints.js';
import type { LogStream } from '../supervisor/log-stream.js';
import { WarningRecorder } from '../supervisor/warning-recorder.js';
import { AGENTS_RUN, namesUpstream } from '../roles/agents-run.js';
import { AgentDoor } from './agent-door.js';
import { assertDiskSpace, watchDisk } from './disk-watch.js';
import { JoinedStore } from './joined-store.js';
import { openRun, type RecipeOfData, type TrainingParts } from './open-run.js';
import { prepareBackend } from './prepare-backend.js';
import { agentsRole } from '../roles/role-definitions.js';
import type { StoreOfRuns } from './store-of-runs.js';
import { StoreSide } from './store-side.js';
import { Training, type TrainingRequest } from './training.js';

export interface TrainingServerOptions {
  readonly dataDirectory: string;
  readonly log: LogStream;
  /** Whether there is no store: then a run has its log, its checkpoints and its files of metrics (default: there is one). */
  readonly withoutStore?: boolean;
  /** The API's port; with null there is no API and the sink has its own process. */
  readonly apiPort: number | null;
  /** Whether to go on with a store that has events of another log. */
  readonly acceptsOtherLog: boolean;
  /** Whether to join the server of a data directory that has one (default false: that is refused). */
  readonly joins?: boolean;
}

/** Facts that the parts of a server share. */
interface ServedRun {
  goesOnWithoutStore: boolean;
  door: AgentDoor | null;
  /** With which the API and the proxy for agents ask each other, also where no key is known to anybody. */
  readonly agentsKey: string;
}

/** Holds a data directory or joins the server that does, starts the store side beside the roles of a run, and stops the roles of the run before it. */
export class TrainingServer {
  private readonly ending = new AbortController();
  private training: Training | null = null;

  private constructor(
    private readonly parts: TrainingParts,
    /** The runs that callers of the API start. */
    readonly queue: RunQueue,
    private readonly dataDirectory: string,
    private readonly run: ServedRun,
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
    const hold = options.joins === true ? joinOrHoldDataDirectory : holdDataDirectory;
    const held = await hold(dataDirectory, (message) => {
      log.write({ role: 'retrace', level: 'info', message });
    });
    const { directory, lock, joined } = held;
    const run: ServedRun = { goesOnWithoutStore: false, door: null, agentsKey: mintKey() };
    let eventLog: EventLog | null = null;
    let storeSide: StoreOfRuns | null = null;
    try {
      await assertDiskSpace({ path: directory.root, shownAs: dataDirectory });
      keepStorage(held);
      log.write({ role: 'retrace', level: 'info', message: describeStart(options, joined) });
      eventLog = await openLog(directory);
      const runGoesOn = () => run.goesOnWithoutStore;
      const parts = { directory, eventLog, log };
      const ownLog = eventLog;
      const queue = new RunQueue({
        ...{
          directory,
          readState: () => readControlState(ownLog),
          onChosen: sayChosenRun,
          settings: environmentAssignments,
        },
        say: (level, message) => {
          log.write({ role: 'retrace', level, message });
        },
        checkpoints: openCheckpoints(directory),
        agents: () =>
          run.door && { url: run.door.url, runName: AGENTS_RUN, policiesAnswer: !namesUpstream() },
      });
      if (options.withoutStore !== true)
        storeSide =
          joined === null
            ? await StoreSide.start({
                ...options,
                ...parts,
                lockFileDescriptors: [lock.fileDescriptor],
                ...{ runGoesOn, agentsKey: run.agentsKey },
                onRequest: (request) => queue.answer(request),
              })
            : new JoinedStore({ ...parts, server: joined });
      return new TrainingServer({ held, eventLog, log, storeSide }, queue, dataDirectory, run);
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
   * @throws CliError `ROLE_FAILED` once the store side has failed permanently, `DISK_FULL`
   */
  async watch(): Promise<void> {
    const { held, storeSide } = this.parts;
    const { signal } = this.ending;
    const failed = storeSide?.failure.then((error) => Promise.reject(error));
    const watched = watchDisk({ path: held.directory.root, shownAs: this.dataDirectory }, signal);
    await Promise.race(failed === undefined ? [watched] : [failed, watched]);
  }

  /**
   * Starts the recipe's run, or resumes the unfinished one; resolves when the run and its roles have ended. The collectors share each round. A server trains
   * one run at a time.
   *
   * @throws CliError `RUN_ACTIVE` where another process trains the recipe; `ROLE_FAILED` once a role of the run has failed permanently
   */
  async train(
    asked: Recipe | RecipeOfData,
    request: TrainingRequest,
    onBegun: (training: Training) => void = () => undefined,
  ): Promise<RunSummary> {
    const { parts, ending } = this;
    const { log, held } = parts;
    const sayOfRun = (message: string) => {
      log.write({ role: 'run', level: 'info', message });
    };
    const [opened] = await Promise.all([
      openRun(parts, asked, sayOfRun),
      request.backend === undefined
        ? prepareBackend({
            ...{ log, signal: ending.signal },
            lockFileDescriptors: [held.lock.fileDescriptor],
          })
        : undefined,
    ]);
    if (ending.signal.aborted) {
      opened.release();
      throw new CliError('ROLE_FAILED', 'the server was stopped before the run began');
    }
    const training = new Training(parts, opened, request);
    this.training = training;
    this.run.goesOnWithoutStore = training.goesOnWithoutStore;
    try {
      onBegun(training);
      return await training.toEnd();
    } finally {
      await training.stop();
      this.run.goesOnWithoutStore = false;
    }
  }

  /**
   * Opens the address at which agents are recorded: this port, or the next one that is free.
   *
   * @returns the address; null where the server stops meanwhile
   * @throws CliError `PORT_TAKEN`
   */
  async openAgentDoor(port: number): Promise<string | null> {
    const { held, log } = this.parts;
    if (this.stopping.aborted) return null;
    const door = await AgentDoor.open({
      ...{ port, log, lockFileDescriptors: [held.lock.fileDescriptor] },
      role: agentsRole(held.directory, this.run.agentsKey),
    });
    if (this.stopping.aborted) {
      await door.close();
      return null;
    }
    this.run.door = door;
    return door.url;
  }

  /** Stops agents' proxy, collectors, validator, trainer, API or sink, and store, in this order, and releases the data directory. */
  async stop(): Promise<void> {
    const { held, eventLog, storeSide } = this.parts;
    this.ending.abort();
    await this.run.door?.close();
    await this.training?.stop();
    await storeSide?.stop();
    if (held.joined === null) held.directory.withdrawServer();
    await eventLog.close();
    held.lock.release();
  }

  killAll(): void {
    this.run.door?.killAll();
    this.training?.killAll();
    this.parts.storeSide?.killAll();
  }
}

/**
 * Makes later commands find the checkpoints of a directory that this process holds.
 *
 * @throws CliError `OPTION_INVALID` for another storage than the server that was joined has
 */
function keepStorage({ directory, joined }: HeldDataDirectory): void {
  const storage = checkpointStorageFor(directory);
  if (storage === null) return;
  if (joined === null) {
    directory.keepCheckpointStorage(storage);
    return;
  }
  const kept = directory.checkpointStorage();
  if (kept?.url === storage.url && kept.endpoint === storage.endpoint) return;
  throw new CliError(
    'OPTION_INVALID',
    `--checkpoint-storage: got ${storage.url}, must be ${kept?.url ?? 'left out'}, as the server of process ${joined.pid} has it, which this run joins`,
  );
}

function describeStart(
  { apiPort, withoutStore }: TrainingServerOptions,
  joined: ServerAddress | null,
): string {
  if (joined !== null) {
    const serves = joined.apiUrl === '' ? '' : `, which serves ${joined.apiUrl}`;
    return `joining process ${joined.pid}${serves}: its log and store have this run too`;
  }
  if (withoutStore === true) return 'starting without a store';
  return apiPort === null ? 'starting the store and the sink' : 'starting the store and the API';
}

async function openLog(directory: DataDirectory): Promise<EventLog> {
  const { openLog: openLogAt } = await import('@retrace/log');
  return openLogAt(locateLog(directory), CREATED_BY);
}
