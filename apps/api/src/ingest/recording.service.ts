import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import {
  type AcknowledgedNotebook,
  type AppendedBatch,
  MAX_RECORDS,
  parseRecords,
  type AcknowledgedUpdate,
  Recorder,
  RECORD_MEDIA_TYPES,
  RecordingError,
} from '@retrace/recording';
import type { StoreClient } from '@retrace/store';
import { InjectEventLog } from '../log/log.module.js';
import { ProblemError } from '../problems/problem.js';
import { StoreService } from '../store/store.service.js';
import { RecordsBody } from './records-body.js';
import { Redaction } from './redaction.js';

/** Writes what callers send to the log. */
@Injectable()
export class RecordingService implements OnModuleDestroy {
  private readonly client: StoreClient;
  private recorder: Promise<Recorder> | null = null;

  constructor(
    @InjectEventLog() private readonly log: EventLog,
    private readonly store: StoreService,
    private readonly redaction: Redaction,
  ) {
    this.client = store.createClient();
  }

  async startRun(request: unknown): Promise<{ readonly runId: string; readonly isNew: boolean }> {
    return (await this.open()).startRun(request);
  }

  /** Starts a run unless there is a recorded one with its id, whatever that is called; returns the id. */
  async startRunOnce(request: { readonly id: string; readonly name: string }): Promise<string> {
    const recorder = await this.open();
    try {
      return (await recorder.startRun(request)).runId;
    } catch (error) {
      if (!(error instanceof RecordingError) || error.code !== 'RUN_EXISTS') throw error;
      await recorder.requireRun(request.id);
      return request.id;
    }
  }

  /** @throws RecordingError `RUN_UNKNOWN`, `RUN_NOT_RECORDED`, `STORE_BEHIND` */
  async requireRun(runId: string): Promise<void> {
    await (await this.open()).requireRun(runId);
  }

  /** @throws RecordingError as `Recorder.annotateRun` */
  async annotateRun(runId: string, request: unknown): Promise<void> {
    this.store.requireReady();
    await (await this.open()).annotateRun(runId, request);
  }

  async endRun(runId: string, request: unknown): Promise<{ readonly closedGroups: number }> {
    this.store.requireReady();
    return (await this.open()).endRun(runId, request);
  }

  /** Records an update of a trainer outside. @throws RecordingError as `UpdateRecorder.record` */
  async recordUpdate(runId: string, request: unknown): Promise<AcknowledgedUpdate> {
    this.store.requireReady();
    return (await this.open()).updates.record(runId, request);
  }

  /** Publishes a policy of a trainer outside. @throws RecordingError as `UpdateRecorder.publishPolicy` */
  async publishPolicy(
    runId: string,
    request: unknown,
  ): Promise<{ readonly policyVersion: number; readonly isNew: boolean }> {
    this.store.requireReady();
    return (await this.open()).updates.publishPolicy(runId, request);
  }

  /** Makes a notebook. @throws RecordingError as `NotebookRecorder.create` */
  async createNotebook(request: unknown): Promise<AcknowledgedNotebook> {
    this.store.requireReady();
    return (await this.open()).notebooks.create(request);
  }

  /** Saves a notebook. @throws RecordingError as `NotebookRecorder.save` */
  async saveNotebook(notebookId: string, request: unknown): Promise<AcknowledgedNotebook> {
    this.store.requireReady();
    return (await this.open()).notebooks.save(notebookId, request);
  }

  /** Deletes a notebook. @throws RecordingError as `NotebookRecorder.delete` */
  async deleteNotebook(notebookId: string, revision: number): Promise<AcknowledgedNotebook> {
    this.store.requireReady();
    return (await this.open()).notebooks.delete(notebookId, revision, 'caller');
  }

  /** Acknowledges an alarm; returns its run. @throws RecordingError as `AlarmRecorder.acknowledge` */
  async acknowledgeAlarm(request: unknown): Promise<string> {
    this.store.requireReady();
    return (await this.open()).alarms.acknowledge(request);
  }

  /** Silences alarms; returns until when, in microseconds since the Unix epoch. @throws RecordingError as `AlarmRecorder.silence` */
  async silenceAlarms(request: unknown): Promise<number> {
    this.store.requireReady();
    return (await this.open()).alarms.silence(request);
  }

  /** @param body a `RecordsBody`, which the server makes of every body that the route takes */
  async append(runId: string, body: unknown): Promise<AppendedBatch> {
    if (!(body instanceof RecordsBody)) throw new ProblemError('MALFORMED_BODY', 'The request has no body');
    body.isHandled = true;
    try {
      const mediaType = RECORD_MEDIA_TYPES.find((known) => known === body.mediaType) ?? 'application/json';
      return await this.appendRecords(runId, parseRecords(body.bytes, mediaType, MAX_RECORDS));
    } finally {
      body.reservation.release();
    }
  }

  /** Appends records, all of them or none. @throws RecordingError */
  async appendRecords(runId: string, records: readonly unknown[]): Promise<AppendedBatch> {
    return (await this.open()).append(runId, records);
  }

  async onModuleDestroy(): Promise<void> {
    const recorder = await this.recorder?.catch(() => null);
    await recorder?.close();
    await this.client.close();
  }

  /** Opened with the first request, since most servers never get one. A log that did not answer is asked again by the next. */
  private open(): Promise<Recorder> {
    this.recorder ??= Recorder.open(this.log, this.client, {
      redact: (value) => this.redaction.apply(value),
    }).catch((error: unknown) => {
      this.recorder = null;
      throw error;
    });
    return this.recorder;
  }
}
