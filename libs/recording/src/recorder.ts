import type { EventLog } from '@retrace/log';
import { choosePartition } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import { type AnyEvent, describeProblem, nowUs } from '@retrace/trajectory';
import { type BatchPlan, planBatch } from './batch-plan.js';
import { AlarmRecorder } from './alarms/alarm-recorder.js';
import { toEpisodeId } from './convert/episode-id.js';
import type { EpisodeProgress } from './episode/episode-progress.js';
import { PlaceRefusal } from './episode/place-refusal.js';
import { NotebookRecorder } from './notebooks/notebook-recorder.js';
import { EpisodeLoader } from './partition/episode-loader.js';
import { PartitionLane } from './partition/partition-lane.js';
import { MAX_RECORDS, type RecorderOptions } from './recorder-options.js';
import { RecordingError } from './recording-error.js';
import { closeGroups } from './run/close-groups.js';
import { ControlWatch } from './run/control-watch.js';
import { type KnownRun, requireRecorded, RunBook } from './run/run-book.js';
import { UpdateRecorder } from './updates/update-recorder.js';
import { checkRecord, requireRequest } from './wire/check-wire.js';
import { ANNOTATE_RUN_REQUEST, END_RUN_REQUEST, START_RUN_REQUEST } from './wire/run-requests.js';
import type { WireRecord } from './wire/wire-records.js';

/** The outcome of a batch, all of whose records are in the log. */
export interface AppendedBatch {
  /** Records of the batch. */
  readonly accepted: number;
  /** Those of them that this process knew to be there before. */
  readonly duplicates: number;
}

interface Lane {
  readonly lane: PartitionLane;
  readonly loader: EpisodeLoader;
}

interface RecorderParts {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly lanes: readonly Lane[];
  readonly runs: RunBook;
  readonly updates: UpdateRecorder;
  readonly notebooks: NotebookRecorder;
  readonly alarms: AlarmRecorder;
  readonly watch: ControlWatch;
  readonly options: RecorderOptions;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_STATE_BYTES = 64 * 1024 * 1024;
const MAX_ATTEMPTS = 4;

/**
 * Writes what agents outside of Retrace do to the log. A batch of records is taken as a whole or not at all, and acknowledged once the log has it; a
 * record that comes again counts once. Several recorders may write to one log.
 *
 * It remembers the episodes that are being written and reads others from the store, so that a restart makes no difference.
 */
export class Recorder {
  /** One batch is planned after the other, because a plan builds on those before it. */
  private planning: Promise<unknown> = Promise.resolve();

  private constructor(private readonly parts: RecorderParts) {}

  /** @throws LogError */
  static async open(log: EventLog, client: StoreClient, options: RecorderOptions = {}): Promise<Recorder> {
    const {
      appendTimeoutMs = DEFAULT_TIMEOUT_MS,
      storeTimeoutMs = DEFAULT_TIMEOUT_MS,
      maxStateBytes = DEFAULT_STATE_BYTES,
    } = options;
    const waits = {
      appendTimeoutMs,
      storeTimeoutMs,
      ...(options.catchUp && { catchUp: options.catchUp }),
    };
    const runs = new RunBook(log, client, waits);
    const numPartitions = log.numPartitions('trajectories');
    const lanes = await Promise.all(
      Array.from({ length: numPartitions }, async (_, partition) => {
        const laneOptions = { appendTimeoutMs, maxStateBytes: maxStateBytes / numPartitions };
        const lane = await PartitionLane.open(log, partition, laneOptions);
        return { lane, loader: new EpisodeLoader(log, client, lane, waits) };
      }),
    );
    const watch = await ControlWatch.open(log, (event) => {
      observe(event, runs, lanes);
    });
    const { redact = (value) => value, nowUs: clock = nowUs } = options;
    const untilEpisodesStored = async () => {
      await untilStored(lanes);
      // Episodes count once the store has the start of their run.
      await runs.untilStored();
    };
    const updates = new UpdateRecorder({ log, client, runs, redact, untilEpisodesStored, nowUs: clock });
    const notebooks = new NotebookRecorder({ log, client, runs, redact, nowUs: clock });
    const alarms = new AlarmRecorder({ log, client, runs, redact, nowUs: clock });
    return new Recorder({ log, client, lanes, runs, updates, notebooks, alarms, watch, options });
  }

  /**
   * Starts a run of kind `recorded`; does nothing where it was started with the same content.
   *
   * @param request a `StartRunRequest`, checked here
   * @throws RecordingError `INVALID_RECORDS`, `RUN_EXISTS`, `LOG_UNAVAILABLE`, `STORE_BEHIND`
   */
  async startRun(request: unknown): Promise<{ readonly runId: string; readonly isNew: boolean }> {
    const started = await this.parts.runs.start(
      this.redact(requireRequest(START_RUN_REQUEST, request)),
      this.nowUs(),
    );
    if (started.isNew) for (const { lane } of this.parts.lanes) lane.knownIds.begin(started.runId);
    return started;
  }

  /**
   * Ends a recorded run, and closes each of its groups whose members have all ended, so that a trainer may sample them. May be called
   * again after late episodes.
   *
   * @param request an `EndRunRequest`, checked here
   * @throws RecordingError `INVALID_RECORDS`, `RUN_UNKNOWN`, `RUN_NOT_RECORDED`, `RUN_ENDED`, `LOG_UNAVAILABLE`, `STORE_BEHIND`
   */
  async endRun(runId: string, request: unknown): Promise<{ readonly closedGroups: number }> {
    const { runs, lanes, client, log } = this.parts;
    await runs.end(runId, this.redact(requireRequest(END_RUN_REQUEST, request)), this.nowUs());
    await untilStored(lanes);
    // Groups that an earlier call has closed.
    await runs.untilStored();
    const append = (...events: readonly AnyEvent[]): Promise<unknown> => runs.append(...events);
    return {
      closedGroups: await closeGroups({ client, logId: log.logId, runId, append, nowUs: this.nowUs() }),
    };
  }

  /**
   * Annotates a run of any kind with tags, notes, a star, or as archived. Resolves once the store shows it, or does not within its time.
   *
   * @param request an `AnnotateRunRequest`, checked here
   * @throws RecordingError `INVALID_RECORDS`, `RUN_UNKNOWN`, `LOG_UNAVAILABLE`, `STORE_BEHIND`
   */
  async annotateRun(runId: string, request: unknown): Promise<void> {
    const checked = this.redact(requireRequest(ANNOTATE_RUN_REQUEST, request));
    await this.parts.runs.annotate(runId, checked, this.nowUs());
    await this.parts.runs.untilShown();
  }

  /** Records what trainers outside of Retrace made of the episodes. */
  get updates(): UpdateRecorder {
    return this.parts.updates;
  }

  /** Writes notebooks of SQL and text. */
  get notebooks(): NotebookRecorder {
    return this.parts.notebooks;
  }

  /** Acknowledges and silences alarms. */
  get alarms(): AlarmRecorder {
    return this.parts.alarms;
  }

  /** @throws RecordingError `RUN_UNKNOWN`, `RUN_NOT_RECORDED`, `LOG_UNAVAILABLE`, `STORE_BEHIND` */
  async requireRun(runId: string): Promise<void> {
    requireRecorded(await this.parts.runs.require(runId));
  }

  /**
   * Appends records to a run, all of them or none, and resolves when the log has them.
   *
   * @param values the records, checked here
   * @throws RecordingError with the index, field and rule of the first fault; `LOG_UNAVAILABLE` when it is unknown whether they landed
   */
  async append(runId: string, values: readonly unknown[]): Promise<AppendedBatch> {
    const { maxRecords = MAX_RECORDS } = this.parts.options;
    if (values.length > maxRecords) {
      const message = `The batch has ${values.length} records; at most ${maxRecords} are allowed`;
      throw new RecordingError('TOO_MANY_RECORDS', message);
    }
    const records = values.map((value, index) => this.redact(checkRecord(value, index)));
    const run = await this.parts.runs.require(runId);
    requireAllowed(run, records);
    const accepted = records.length;
    let duplicates: number | null = null;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const outcome = await this.appendOnce(run, records);
      // A second attempt finds what the first has written.
      duplicates ??= outcome.duplicates;
      if (outcome.kind === 'landed') return { accepted, duplicates: duplicates ?? 0 };
    }
    const message = 'other processes keep writing to the same episodes; write an episode through one process';
    throw new RecordingError('LOG_UNAVAILABLE', message, { retriable: true });
  }

  /** Waits for appends under way. */
  async close(): Promise<void> {
    await this.planning;
    await this.parts.watch.close();
    for (const { lane } of this.parts.lanes) await lane.drain();
  }

  private async appendOnce(
    run: KnownRun,
    records: readonly WireRecord[],
  ): Promise<{ readonly kind: 'landed' | 'again'; readonly duplicates: number | null }> {
    const pinned = new Map<string, EpisodeProgress>();
    try {
      const states = await this.acquire(run, records, pinned);
      const plan = await this.plan(run, records, states);
      const outcomes = await Promise.all(
        Array.from(plan.works, ([partition, work]) => this.parts.lanes[partition].lane.append(work)),
      );
      for (const outcome of outcomes) if (typeof outcome === 'object') throw outcome.error;
      const isOvertaken = outcomes.includes('overtaken');
      return { kind: isOvertaken ? 'again' : 'landed', duplicates: plan.numDuplicates };
    } catch (error) {
      if (!(error instanceof PlaceRefusal) || !(await this.hasChanged(error.state))) throw error;
      return { kind: 'again', duplicates: null };
    } finally {
      for (const state of pinned.values()) {
        state.numPins -= 1;
        this.parts.lanes[state.partition].lane.states.release(state);
      }
    }
  }

  /** Whether another process has written to the episode, so that the refusal of a record may have been wrong. */
  private async hasChanged(state: EpisodeProgress): Promise<boolean> {
    if (state.stale === null) await this.parts.lanes[state.partition].lane.refresh();
    return state.stale !== null;
  }

  /** Finds the state of each record's episode and pins it; each pinned state is in `pinned`, also when this fails. */
  private async acquire(
    { runId }: KnownRun,
    records: readonly WireRecord[],
    pinned: Map<string, EpisodeProgress>,
  ): Promise<EpisodeProgress[]> {
    const episodeIds = records.map(({ episode }) => toEpisodeId(runId, episode));
    const isStart = new Map<string, boolean>();
    records.forEach(({ type }, i) => {
      if (!isStart.has(episodeIds[i])) isStart.set(episodeIds[i], type === 'episode');
    });
    const acquiring = Array.from(isStart, async ([episodeId, starts]) => {
      pinned.set(episodeId, await this.pin(runId, episodeId, starts));
    });
    const failed = (await Promise.allSettled(acquiring)).find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return episodeIds.flatMap((episodeId) => pinned.get(episodeId) ?? []);
  }

  private async pin(runId: string, episodeId: string, starts: boolean): Promise<EpisodeProgress> {
    const { lane, loader } = this.laneOf(runId, episodeId);
    const { states, knownIds } = lane;
    const known = states.get(runId, episodeId);
    if (known !== undefined) {
      known.numPins += 1;
      states.touch(known);
      return known;
    }
    if (starts && !knownIds.has(runId)) {
      await loader.learnRun(runId);
      if (states.get(runId, episodeId) !== undefined) return this.pin(runId, episodeId, starts);
    }
    if (!starts || !knownIds.isNew(runId, episodeId)) return loader.load(runId, episodeId);
    return lane.addNew(runId, episodeId);
  }

  private plan(
    run: KnownRun,
    records: readonly WireRecord[],
    states: readonly EpisodeProgress[],
  ): Promise<BatchPlan> {
    const { log } = this.parts;
    const context = {
      runId: run.runId,
      logId: log.logId,
      environment: run.environment,
      arrivedAtUs: this.nowUs(),
      maxEventBytes: Math.min(log.maxEventBytes, log.maxRecordBytes),
    };
    const planned = this.planning.then(() => planBatch(records, states, context));
    this.planning = planned.catch(() => undefined);
    return planned;
  }

  private laneOf(runId: string, episodeId: string): Lane {
    const { log, lanes } = this.parts;
    return lanes[choosePartition(runId, episodeId, log.numPartitions('trajectories'))];
  }

  private redact<T extends object>(value: T): T {
    const { redact } = this.parts.options;
    return redact === undefined ? value : redact(value);
  }

  private nowUs(): number {
    return this.parts.options.nowUs?.() ?? nowUs();
  }
}

/** Waits until the store has every record of an episode that the log has now. @throws RecordingError `STORE_BEHIND`; LogError */
async function untilStored(lanes: readonly Lane[]): Promise<void> {
  for (const { lane, loader } of lanes) {
    await lane.refresh();
    await loader.untilStoredAll();
  }
}

/** @throws RecordingError when records are of a type, or of an episode, that the run doesn't take */
function requireAllowed(run: KnownRun, records: readonly WireRecord[]): void {
  records.forEach(({ type, episode }, index) => {
    if (type !== 'reward' && type !== 'annotation') requireRecorded(run);
    if (run.deletedEpisodes.size === 0 || !run.deletedEpisodes.has(toEpisodeId(run.runId, episode))) return;
    const rule = 'must be an episode that was not deleted';
    const fault = { index, field: 'episode', value: episode, rule };
    throw new RecordingError('EPISODE_DELETED', `Record ${index}: ${describeProblem(fault)}`, {
      faults: [fault],
    });
  });
}

function observe(event: AnyEvent, runs: RunBook, lanes: readonly Lane[]): void {
  runs.observe(event);
  const { kind, runId, payload } = event;
  if (kind !== 'RunDeleted' && kind !== 'EpisodesDeleted') return;
  const episodeIds = kind === 'EpisodesDeleted' ? new Set(payload.episodeIds) : undefined;
  for (const { lane } of lanes) lane.states.discardOf(runId, episodeIds);
}
