import { join } from 'node:path';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { poorerRecord, storableRecord, type RunRecord } from '@retrace/client';
import { importRunId, type OtelSpan, type OtlpPartialSuccess } from '@retrace/importers';
import { RecordingError, type RecordingErrorCode, type WireRecord } from '@retrace/recording';
import { FileLock } from '@retrace/spool/file-lock';
import { isUuid } from '@retrace/trajectory';
import { ApiConfig } from '../config/api-config.js';
import { RecordingService } from '../ingest/recording.service.js';
import { ProblemError } from '../problems/problem.js';
import type { ExportedSpans } from './otlp-body.js';
import { type TraceCounts, TraceIntake, type TraceWriter, type WriteVerdict } from './trace-intake.js';

const TURN_MS = 500;
const MAX_RUN_NAME_LENGTH = 256;
/** Name that OpenTelemetry's SDKs give a service without one. */
const UNKNOWN_SERVICE = 'unknown_service';

interface OpenIntake {
  readonly intake: TraceIntake;
  readonly lock: FileLock;
  readonly timer: NodeJS.Timeout;
}

/** Turns spans that OpenTelemetry's exporters send into episodes of recorded runs. */
@Injectable()
export class TracesService implements OnApplicationBootstrap, OnModuleDestroy, TraceWriter {
  private readonly logger = new Logger('traces');
  /** Records of traces that could not be stored as they came. */
  numPoorer = 0;
  private opening: Promise<OpenIntake | null> | null = null;
  private current: OpenIntake | null = null;

  constructor(
    private readonly config: ApiConfig,
    private readonly recording: RecordingService,
  ) {}

  get counts(): TraceCounts | null {
    return this.current?.intake.counts ?? null;
  }

  get numOpenTraces(): number {
    return this.current?.intake.numOpenTraces ?? 0;
  }

  /** Goes on with the traces that an earlier process left open. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.config.traceDirectory === null) return;
    await this.open().catch((error: unknown) => {
      this.logger.warn(`traces can't be taken: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  async onModuleDestroy(): Promise<void> {
    const open = await this.opening?.catch(() => null);
    if (!open) return;
    clearInterval(open.timer);
    await open.intake.close();
    open.lock.release();
  }

  /**
   * Takes spans, and resolves when they are on disk. Returns which it did not take; null when it took all.
   *
   * @param wantedRun id or name of the run; undefined: each span's service names it
   * @throws ProblemError `TRACES_UNAVAILABLE`, `TOO_MANY_RECORDS_IN_FLIGHT`, `NOT_FOUND`, `INVALID_REQUEST`; RecordingError
   */
  async accept(
    { spans, numInvalid }: ExportedSpans,
    wantedRun: string | undefined,
  ): Promise<OtlpPartialSuccess | null> {
    const { intake } = await this.requireOpen();
    const byScope = new Map<string, OtelSpan[]>();
    const fixed = wantedRun === undefined ? null : await this.scopeOfHeader(wantedRun);
    let numUnnamed = 0;
    for (const span of spans) {
      const name = span.service || UNKNOWN_SERVICE;
      if (fixed === null && name.length > MAX_RUN_NAME_LENGTH) {
        numUnnamed++;
        continue;
      }
      const scope = fixed ?? `name:${name}`;
      const own = byScope.get(scope);
      if (own === undefined) byScope.set(scope, [span]);
      else own.push(span);
    }
    let numWithoutCall = 0;
    for (const [scope, own] of byScope) numWithoutCall += (await intake.accept(scope, own)).numWithoutCall;
    const rejectedSpans = numInvalid + numUnnamed + numWithoutCall;
    if (rejectedSpans === 0) return null;
    const reasons = [
      ...(numInvalid > 0 ? [`${numInvalid} spans have no valid traceId and spanId`] : []),
      ...(numUnnamed > 0
        ? [`service.name of ${numUnnamed} spans has more than ${MAX_RUN_NAME_LENGTH} characters`]
        : []),
      ...(numWithoutCall > 0
        ? [
            `${numWithoutCall} spans are of traces without a call of a model, which become no episode (calls are known by the conventions of GenAI, OpenLLMetry, the AI SDK, OpenInference and Langfuse)`,
          ]
        : []),
    ];
    return { rejectedSpans, errorMessage: reasons.join('; ') };
  }

  async write(scope: string, records: readonly WireRecord[]): Promise<void> {
    const [kind, ...rest] = scope.split(':');
    const wanted = rest.join(':');
    // The id is that of an import under this name, so both are one run.
    const runId =
      kind === 'id'
        ? wanted
        : await this.recording.startRunOnce({ id: importRunId('otlp', wanted, []), name: wanted });
    await this.append(
      runId,
      records.flatMap((record) => this.storable(record)),
    );
  }

  /** Appends records, with a poorer one in place of each that is refused for what is in it. */
  private async append(runId: string, records: readonly RunRecord[]): Promise<void> {
    try {
      await this.recording.appendRecords(runId, records);
    } catch (error) {
      const poorer = this.withoutFault(records, error);
      if (poorer === null) throw error;
      await this.append(runId, poorer);
    }
  }

  /** The same records, with a poorer one in place of the one at fault; null where no poorer one helps. */
  private withoutFault(records: readonly RunRecord[], error: unknown): RunRecord[] | null {
    if (!(error instanceof RecordingError)) return null;
    const { index = null, field = '', rule = '' } = error.faults[0] ?? {};
    const refused = index === null ? undefined : records[index];
    if (refused === undefined) return null;
    const reason = `refused: ${field} ${rule}`;
    const poorer = poorerRecord(refused, { field, reason });
    if (poorer !== null) this.notePoorer(refused, reason);
    return poorer && records.map((record) => (record === refused ? poorer : record));
  }

  /** A record that can be stored, whatever a tracer wrote. */
  private storable(record: WireRecord): readonly RunRecord[] {
    const { content, changes } = storableRecord(record as RunRecord);
    if (changes.length > 0) this.notePoorer(record, changes.join('; '));
    return content === null ? [] : [content];
  }

  private notePoorer({ episode }: { readonly episode?: string }, reason: string): void {
    this.numPoorer++;
    this.logger.warn(`episode ${episode} is stored poorer: ${reason}`);
  }

  verdictOf(error: unknown): WriteVerdict {
    if (!(error instanceof RecordingError)) return 'later';
    return error.retriable ? 'later' : (VERDICTS[error.code] ?? 'refused');
  }

  private async scopeOfHeader(wanted: string): Promise<string> {
    if (wanted === '' || wanted.length > MAX_RUN_NAME_LENGTH) {
      const rule = `must have 1 to ${MAX_RUN_NAME_LENGTH} characters`;
      throw new ProblemError('INVALID_REQUEST', `x-retrace-run ${rule}`, [
        { field: 'x-retrace-run', value: wanted.slice(0, 100), rule },
      ]);
    }
    if (!isUuid(wanted)) return `name:${wanted}`;
    await this.recording.requireRun(wanted);
    return `id:${wanted}`;
  }

  private async requireOpen(): Promise<OpenIntake> {
    const { traceDirectory } = this.config;
    if (traceDirectory === null) {
      const detail =
        'This server takes no traces, as it has no directory for open ones; name one by RETRACE_TRACE_DIRECTORY';
      throw new ProblemError('NOT_FOUND', detail);
    }
    const open = await this.open();
    if (open !== null) return open;
    const detail = `Another process has ${traceDirectory}; give each API a directory of its own by RETRACE_TRACE_DIRECTORY`;
    throw new ProblemError('TRACES_UNAVAILABLE', detail);
  }

  /** Opens the intake; null while another process has its directory, which is asked again the next time. */
  private open(): Promise<OpenIntake | null> {
    this.opening ??= this.openNow().then(
      (open) => {
        this.current = open;
        if (open === null) this.opening = null;
        return open;
      },
      (error: unknown) => {
        this.opening = null;
        throw error;
      },
    );
    return this.opening;
  }

  private async openNow(): Promise<OpenIntake | null> {
    const { traceDirectory, traceIdleMs } = this.config;
    if (traceDirectory === null) return null;
    try {
      const lock = await FileLock.tryAcquire(join(traceDirectory, 'held.lock'));
      if (lock === null) return null;
      const intake = await TraceIntake.open(traceDirectory, this, {
        idleMs: traceIdleMs,
        onWarning: (message) => {
          this.logger.warn(message);
        },
      }).catch((error: unknown) => {
        lock.release();
        throw error;
      });
      const timer = setInterval(() => void intake.turn(), TURN_MS).unref();
      return { intake, lock, timer };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ProblemError('TRACES_UNAVAILABLE', `${traceDirectory} can't be used: ${reason}`);
    }
  }
}

const VERDICTS: Partial<Record<RecordingErrorCode, WriteVerdict>> = {
  EPISODE_CONFLICT: 'conflict',
  EPISODE_ENDED: 'conflict',
  STEP_CONFLICT: 'conflict',
  STEP_OUT_OF_ORDER: 'conflict',
  END_CONFLICT: 'conflict',
  EPISODE_DELETED: 'deleted',
};
