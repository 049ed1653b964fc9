import type { EventLog } from '@retrace/log';
import { readRunHistory, StoredPosition, type StoreClient } from '@retrace/store';
import {
  type AnyEvent,
  contentChecksum,
  isUuid,
  type Json,
  newControlEvent,
  newRunId,
  type RunStarted,
} from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { LRUCache } from 'lru-cache';
import { within } from '../partition/within.js';
import { RecordingError } from '../recording-error.js';
import { invalid } from '../wire/check-wire.js';
import type { AnnotateRunRequest, EndRunRequest, StartRunRequest } from '../wire/run-requests.js';
import { requireControlEvent } from './control-event.js';

/** A run as a writer of records needs to know it. */
export interface KnownRun {
  readonly runId: string;
  readonly runKind: RunStarted['runKind'];
  readonly environment: string;
  /** Checksum of its `RunStarted`. */
  readonly checksum: string;
  /** Set once it has ended. */
  end: { readonly reason: string; readonly detail: string } | null;
  readonly deletedEpisodes: Set<string>;
}

export interface RunBookOptions {
  readonly appendTimeoutMs: number;
  readonly storeTimeoutMs: number;
  readonly catchUp?: () => Promise<void>;
}

const MAX_RUNS = 10_000;

/** The runs of a log: those that this process began or was asked about in memory, others in the store. */
export class RunBook {
  private readonly runs = new LRUCache<string, KnownRun>({ max: MAX_RUNS });
  private readonly finding = new Map<
    string,
    { readonly found: Promise<KnownRun | null>; isDirty: boolean }
  >();
  private readonly stored: StoredPosition;
  private readonly changing = new Map<string, Promise<unknown>>();

  constructor(
    private readonly log: EventLog,
    private readonly client: StoreClient,
    private readonly options: RunBookOptions,
  ) {
    this.stored = new StoredPosition(log, client, { stream: 'control', partition: 0 });
  }

  /** @throws RecordingError `RUN_UNKNOWN`, `STORE_BEHIND`; StoreError; LogError */
  async require(runId: string): Promise<KnownRun> {
    const run = this.runs.get(runId) ?? (await this.find(runId));
    if (run === null) throw new RecordingError('RUN_UNKNOWN', `Run ${runId} not found`);
    return run;
  }

  /**
   * Starts a recorded run; does nothing where it was started with the same content.
   *
   * @throws RecordingError `RUN_EXISTS`, `INVALID_RECORDS`, `LOG_UNAVAILABLE`
   */
  start(
    request: StartRunRequest,
    occurredAtUs: number,
  ): Promise<{ readonly runId: string; readonly isNew: boolean }> {
    const { id: runId = newRunId() } = request;
    return this.oneAfterTheOther(runId, async () => {
      const event = newControlEvent({
        ...{ kind: 'RunStarted' as const, logId: this.log.logId, runId, occurredAtUs },
        payload: startedPayload(request),
      }) as AnyEvent;
      requireControlEvent(event);
      const checksum = contentChecksum(event);
      const existing = request.id === undefined ? null : (this.runs.get(runId) ?? (await this.find(runId)));
      if (existing !== null) {
        if (existing.checksum === checksum) return { runId, isNew: false };
        const message = `Run ${runId} was started with another name, environment, tags or metadata; choose another id`;
        throw new RecordingError('RUN_EXISTS', message);
      }
      await this.append(event);
      const { environment = '' } = request;
      this.runs.set(runId, {
        runId,
        runKind: 'recorded',
        environment,
        checksum,
        end: null,
        deletedEpisodes: new Set(),
      });
      return { runId, isNew: true };
    });
  }

  /**
   * Ends a recorded run; does nothing where it has ended for the same reason.
   *
   * @throws RecordingError `RUN_UNKNOWN`, `RUN_NOT_RECORDED`, `RUN_ENDED`, `INVALID_RECORDS`, `LOG_UNAVAILABLE`
   */
  end(runId: string, { reason, detail = '' }: EndRunRequest, occurredAtUs: number): Promise<void> {
    return this.oneAfterTheOther(runId, async () => {
      const run = await this.require(runId);
      requireRecorded(run);
      if (run.end !== null) {
        if (run.end.reason === reason && run.end.detail === detail) return;
        throw new RecordingError('RUN_ENDED', `Run ${runId} has ended already: ${run.end.reason}`);
      }
      const event = newControlEvent({
        ...{ kind: 'RunEnded' as const, logId: this.log.logId, runId, occurredAtUs },
        payload: { reason, detail, numUpdates: 0 },
      }) as AnyEvent;
      requireControlEvent(event);
      await this.append(event);
      run.end = { reason, detail };
    });
  }

  /** Annotates a run of any kind. @throws RecordingError `RUN_UNKNOWN`, `INVALID_RECORDS`, `LOG_UNAVAILABLE`, `STORE_BEHIND` */
  annotate(
    runId: string,
    { tags, notes, starred, archived, source = 'caller' }: AnnotateRunRequest,
    occurredAtUs: number,
  ): Promise<void> {
    return this.oneAfterTheOther(runId, async () => {
      if ([tags, notes, starred, archived].every((change) => change === undefined)) {
        const rule = 'must name tags, notes, starred or archived';
        throw invalid({ index: null, field: '', value: {}, rule });
      }
      await this.require(runId);
      const event = newControlEvent({
        ...{ kind: 'RunAnnotated' as const, logId: this.log.logId, runId, occurredAtUs },
        payload: {
          // Rules of redaction make null of tags that they hide.
          tags: tags === undefined ? null : ((tags as typeof tags | null) ?? []),
          notes: notes ?? null,
          starred: starred ?? null,
          archived: archived ?? null,
          source,
        },
      }) as AnyEvent;
      requireControlEvent(event);
      await this.append(event);
    });
  }

  /** Takes note of a control event that any process wrote. */
  observe(event: AnyEvent): void {
    const { kind, runId, payload } = event;
    const finding = this.finding.get(runId);
    if (finding !== undefined) finding.isDirty = true;
    const run = this.runs.get(runId);
    if (run === undefined) return;
    if (kind === 'RunDeleted') this.runs.delete(runId);
    else if (kind === 'RunEnded') run.end = { reason: payload.reason, detail: payload.detail };
    else if (kind === 'EpisodesDeleted') for (const id of payload.episodeIds) run.deletedEpisodes.add(id);
  }

  private find(runId: string): Promise<KnownRun | null> {
    const already = this.finding.get(runId);
    if (already !== undefined) return already.found;
    const finding = {
      isDirty: false,
      found: this.read(runId).then((run) => {
        this.finding.delete(runId);
        // What came while it was read may be missing from it; then it is read again the next time.
        if (run !== null && !finding.isDirty) this.runs.set(runId, run);
        return run;
      }),
    };
    finding.found.catch(() => this.finding.delete(runId));
    this.finding.set(runId, finding);
    return finding.found;
  }

  private async read(runId: string): Promise<KnownRun | null> {
    if (!isUuid(runId)) return null;
    await this.untilStored();
    let run: KnownRun | null = null;
    for (const row of await readRunHistory(this.client, this.log.logId, runId)) {
      const payload = JSON.parse(row.payload) as Readonly<Record<string, Json>>;
      if (row.kind === 'RunStarted') {
        const runKind = payload.runKind === 'recorded' ? 'recorded' : 'trained';
        const { environment, checksum } = row;
        run ??= { runId, runKind, environment, checksum, end: null, deletedEpisodes: new Set() };
      } else if (row.kind === 'RunDeleted') run = null;
      else if (run !== null && row.kind === 'RunEnded')
        run.end = { reason: row.reason, detail: String(payload.detail) };
      else if (run !== null)
        for (const id of payload.episodeIds as readonly string[]) run.deletedEpisodes.add(id);
    }
    return run;
  }

  /** Waits until the store has every control event that is in the log now. @throws RecordingError `LOG_UNAVAILABLE`, `STORE_BEHIND` */
  async untilStored(): Promise<void> {
    const { storeTimeoutMs, catchUp } = this.options;
    const end = await this.fromLog(this.log.endOffset('control', 0));
    if (await this.stored.reaches(end, catchUp === undefined ? storeTimeoutMs : 0)) return;
    if (catchUp !== undefined) return catchUp();
    const message = `the store has not taken over the log's records within ${storeTimeoutMs} ms; it is asked about runs that this process does not know`;
    throw new RecordingError('STORE_BEHIND', message, { retriable: true });
  }

  /** As `untilStored`, of what has been appended: it is in the log, so that a store that is behind is no failure. @throws RecordingError `LOG_UNAVAILABLE` */
  async untilShown(): Promise<void> {
    try {
      await this.untilStored();
    } catch (error) {
      if (!(error instanceof RecordingError) || error.code !== 'STORE_BEHIND') throw error;
    }
  }

  /** Waits for an answer of the log. @throws RecordingError `LOG_UNAVAILABLE` */
  fromLog<T>(answer: Promise<T>): Promise<T> {
    const { appendTimeoutMs } = this.options;
    const late = (): Error =>
      new RecordingError('LOG_UNAVAILABLE', `the event log did not answer within ${appendTimeoutMs} ms`, {
        retriable: true,
      });
    return within(answer, appendTimeoutMs, late);
  }

  /** Returns the offset of the first; they are one after the other. @throws RecordingError `LOG_UNAVAILABLE` */
  async append(...events: readonly AnyEvent[]): Promise<number> {
    const { appendTimeoutMs } = this.options;
    const unknown =
      'whether the event landed is unknown, and sending the request again is safe if it has an id';
    const late = (): Error =>
      new RecordingError(
        'LOG_UNAVAILABLE',
        `the event log did not acknowledge within ${appendTimeoutMs} ms; ${unknown}`,
        {
          retriable: true,
        },
      );
    const appending = this.log.append('control', 0, events.map(encodeEvent));
    return (await within(appending, appendTimeoutMs, late)).firstOffset;
  }

  /** Changes of one run wait for each other. */
  async oneAfterTheOther<T>(runId: string, change: () => Promise<T>): Promise<T> {
    const changed = (this.changing.get(runId) ?? Promise.resolve()).then(change);
    const settled = changed.catch(() => undefined);
    this.changing.set(runId, settled);
    try {
      return await changed;
    } finally {
      if (this.changing.get(runId) === settled) this.changing.delete(runId);
    }
  }
}

/** @throws RecordingError `RUN_NOT_RECORDED` */
export function requireRecorded({ runId, runKind }: KnownRun): void {
  if (runKind === 'recorded') return;
  const message = `Run ${runId} is trained here, so its collector writes its episodes; it takes rewards and annotations only. Updates of a trainer outside belong into a run of their own, and may name episodes of this one`;
  throw new RecordingError('RUN_NOT_RECORDED', message);
}

function startedPayload({ name, environment = '', tags = [], metadata = null }: StartRunRequest): RunStarted {
  return {
    ...{ name, runKind: 'recorded', environment, tags, metadata },
    // A recorded run has no recipe, and the code that makes its episodes is not known.
    ...{ recipe: null, recipeHash: '', seed: 0, codeVersion: '', baselines: [] },
  };
}
