import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import { type AppendedBatch, MAX_RECORDS, parseRecords, Recorder } from '@retrace/recording';
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

  async endRun(runId: string, request: unknown): Promise<{ readonly closedGroups: number }> {
    this.store.requireReady();
    return (await this.open()).endRun(runId, request);
  }

  /** @param body a `RecordsBody`, which the server makes of every body that the route takes */
  async append(runId: string, body: unknown): Promise<AppendedBatch> {
    if (!(body instanceof RecordsBody)) throw new ProblemError('MALFORMED_BODY', 'The request has no body');
    body.isHandled = true;
    try {
      const recorder = await this.open();
      return await recorder.append(runId, parseRecords(body.bytes, body.mediaType, MAX_RECORDS));
    } finally {
      body.reservation.release();
    }
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
