import { type EventLog, GroupCommit, type LogRecord } from '@retrace/log';
import { contentChecksum, toFingerprint, isEpisodeEventKind, type AnyEvent } from '@retrace/trajectory';
import { decodeEvent, peekEnvelope } from '@retrace/trajectory/codec';
import { EpisodeProgress } from '../episode/episode-progress.js';
import { RecordingError } from '../recording-error.js';
import { KnownIds } from './known-ids.js';
import { StateCache } from './state-cache.js';
import { within } from './within.js';

/** Records of one batch that go to one partition, in order; none for a batch that only repeats what others append. */
export interface LaneWork {
  readonly records: readonly Uint8Array[];
  /** The states that the records were planned on. */
  readonly states: readonly EpisodeProgress[];
}

/** `landed`: acknowledged, and first at their places. `overtaken`: another process wrote to one of the episodes; plan again. */
export type LaneOutcome = 'landed' | 'overtaken' | LaneFailure;

interface LaneFailure {
  readonly error: RecordingError;
}

export interface LaneOptions {
  /** Longest wait for an acknowledgement. */
  readonly appendTimeoutMs: number;
  /** Bound on the size of the states that are remembered. */
  readonly maxStateBytes: number;
}

/** Most bytes of one append; a larger record is an append of its own. */
const MAX_APPEND_BYTES = 2 * 1024 * 1024;
/** Records of other processes that are read to see whom they concern; behind more of them everything is forgotten instead. */
const MAX_FOREIGN_RECORDS = 50_000;

/**
 * One partition of stream `trajectories` as a recorder writes it: the states of its episodes, and appends that batches share.
 *
 * Several processes may write to a partition. The offset of each append tells whether others wrote in between, and then their records are
 * read before anything is acknowledged. So an acknowledged record is the first at its place, without any agreement between processes.
 */
export class PartitionLane {
  readonly states: StateCache;
  readonly knownIds = new KnownIds();
  /** Every record before this offset, of episodes that are not in memory, must be in the store before it is asked about them. */
  forgottenEnd: number;
  /** Episodes that are being read from the store, and whether records of them came meanwhile. */
  readonly loading = new Map<string, { isDirty: boolean }>();
  /** States reflect every record before this offset. */
  private knownEnd: number;
  private readonly commits: GroupCommit<LaneWork, LaneOutcome>;

  private constructor(
    private readonly log: EventLog,
    readonly partition: number,
    endOffset: number,
    private readonly options: LaneOptions,
  ) {
    this.knownEnd = endOffset;
    this.forgottenEnd = endOffset;
    this.states = new StateCache(options.maxStateBytes, (state) => {
      this.forget(state.runId, state.episodeId, state.endOffset);
    });
    this.commits = new GroupCommit((works) => this.commit(works));
  }

  static async open(log: EventLog, partition: number, options: LaneOptions): Promise<PartitionLane> {
    return new PartitionLane(log, partition, await log.endOffset('trajectories', partition), options);
  }

  /** Offset after the last record that is known. */
  get endOffset(): number {
    return this.knownEnd;
  }

  /** Adds the state of an episode that is in no log yet, pinned. */
  addNew(runId: string, episodeId: string): EpisodeProgress {
    const state = new EpisodeProgress(runId, episodeId, this.partition);
    state.numPins = 1;
    this.states.add(state);
    return state;
  }

  /** Resolves when the records are acknowledged and are the first at their places, or with why not. Never rejects. */
  append(work: LaneWork): Promise<LaneOutcome> {
    return this.commits.submit(work);
  }

  /** Resolves when appends under way have settled. */
  drain(): Promise<void> {
    return this.commits.drain();
  }

  /** Looks at all records that other processes have written by now. */
  async refresh(): Promise<void> {
    const { appendTimeoutMs } = this.options;
    const late = (): Error => unavailable(`the event log did not answer within ${appendTimeoutMs} ms`);
    const reading = this.log.endOffset('trajectories', this.partition).then((end) => this.lookAtOthers(end));
    await within(reading, appendTimeoutMs, late);
  }

  private async commit(works: readonly LaneWork[]): Promise<readonly LaneOutcome[]> {
    const alive = works.filter(({ states }) => states.every(({ stale }) => stale === null));
    let failure: LaneFailure | null = null;
    try {
      for (const records of splitAppends(alive.flatMap((work) => work.records)))
        await this.appendRecords(records);
    } catch (error) {
      failure = { error: asUnavailable(error) };
      // Whether the records landed is unknown, so what is planned on them must not be appended.
      for (const state of alive.flatMap(({ states }) => states)) this.states.discard(state, 'lost');
    }
    return works.map((work) => this.outcomeOf(work, failure));
  }

  private outcomeOf({ states }: LaneWork, failure: LaneFailure | null): LaneOutcome {
    const stale = states.find((state) => state.stale !== null)?.stale ?? null;
    // What has landed of an episode whose state is gone must be in the store before it is asked about the episode.
    if (stale !== null)
      for (const { runId, episodeId } of states) this.forget(runId, episodeId, this.knownEnd);
    if (stale === 'lost' || (failure !== null && stale === null))
      return (
        failure ?? { error: unavailable('the event log did not acknowledge earlier records of the episode') }
      );
    if (stale === 'overtaken') return 'overtaken';
    for (const state of states) state.endOffset = this.knownEnd;
    return 'landed';
  }

  private async appendRecords(records: readonly Uint8Array[]): Promise<void> {
    const { appendTimeoutMs } = this.options;
    const late = (): Error =>
      unavailable(
        `the event log did not acknowledge within ${appendTimeoutMs} ms; whether the records landed is unknown`,
      );
    const appending = this.log.append('trajectories', this.partition, records);
    // Records that land after all are looked at like those of other processes, since the states no longer have them.
    const { firstOffset } = await within(appending, appendTimeoutMs, late);
    if (firstOffset > this.knownEnd) await within(this.lookAtOthers(firstOffset), appendTimeoutMs, late);
    this.knownEnd = Math.max(this.knownEnd, firstOffset + records.length);
  }

  /** Reads the records before `end` that are not known yet. Those of this process may be among them, and change nothing. */
  private async lookAtOthers(end: number): Promise<void> {
    if (end - this.knownEnd > MAX_FOREIGN_RECORDS) this.forgetAll(end);
    for (let from = this.knownEnd; from < end;) {
      const records = await this.log.read('trajectories', this.partition, from);
      if (records.length === 0) break;
      for (const record of records) if (record.offset < end) this.lookAt(record);
      from = records[records.length - 1].offset + 1;
    }
    this.knownEnd = Math.max(this.knownEnd, end);
  }

  private lookAt({ offset, bytes }: LogRecord): void {
    const envelope = peekEnvelope(bytes);
    if (envelope === null || envelope.episodeId === '') return;
    const { runId, episodeId } = envelope;
    const state = this.states.get(runId, episodeId);
    if (state !== undefined) {
      const decoded = decodeEvent(bytes);
      // A record that can't be read never gets a place.
      if (!decoded.ok || isAtItsPlace(state, decoded.event)) return;
      this.states.discard(state, 'overtaken');
    }
    const loading = this.loading.get(runId + episodeId);
    if (loading !== undefined) loading.isDirty = true;
    this.forget(runId, episodeId, offset + 1);
  }

  private forget(runId: string, episodeId: string, endOffset: number): void {
    this.forgottenEnd = Math.max(this.forgottenEnd, endOffset);
    this.knownIds.forget(runId, episodeId);
  }

  private forgetAll(end: number): void {
    this.states.discardAll('overtaken');
    for (const loading of this.loading.values()) loading.isDirty = true;
    this.knownIds.clear();
    this.forgottenEnd = Math.max(this.forgottenEnd, end);
    this.knownEnd = end;
  }
}

function isAtItsPlace(state: EpisodeProgress, event: AnyEvent): boolean {
  const { kind, seq } = event;
  if (!isEpisodeEventKind(kind)) return true;
  const place = kind === 'RewardAssigned' ? 'reward' : kind === 'EpisodeAnnotated' ? 'annotation' : 'inOrder';
  return state.fingerprintAt(place, seq) === toFingerprint(contentChecksum(event));
}

/** Splits records into appends of a limited size. */
function* splitAppends(records: readonly Uint8Array[]): Generator<readonly Uint8Array[]> {
  let append: Uint8Array[] = [];
  let numBytes = 0;
  for (const record of records) {
    if (append.length > 0 && numBytes + record.length > MAX_APPEND_BYTES) {
      yield append;
      append = [];
      numBytes = 0;
    }
    append.push(record);
    numBytes += record.length;
  }
  if (append.length > 0) yield append;
}

function unavailable(message: string, cause?: unknown): RecordingError {
  return new RecordingError('LOG_UNAVAILABLE', message, { retriable: true, cause });
}

function asUnavailable(error: unknown): RecordingError {
  if (error instanceof RecordingError) return error;
  return unavailable(
    `the event log refused the records: ${error instanceof Error ? error.message : String(error)}`,
    error,
  );
}
