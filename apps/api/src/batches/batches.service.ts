import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { BatchQuestion } from '@retrace/process';
import { ProblemError } from '../problems/problem.js';
import { QuestionQueue, type AskedQuestion } from '../update-questions/question-queue.js';
import { BatchCheck } from './batch-check.js';
import type { BatchRequest } from './batches.dto.js';

/** A batch that was made: rows in Arrow's stream format. */
export interface BatchFile {
  readonly numBytes: number;
  readonly rows: Readable;
}

/** Has the trainer's process make batches for other trainers. */
@Injectable()
export class BatchesService {
  constructor(
    private readonly questions: QuestionQueue,
    private readonly check: BatchCheck,
  ) {}

  /**
   * Resolves once the batch is made. Its file is removed when the rows are read to their end, or nobody reads them any more.
   *
   * @param signal cancels it
   * @throws ProblemError as `BatchCheck`; `QUESTIONS_UNAVAILABLE`, `TOO_MANY_QUESTIONS`, `BATCH_FAILED` with the reason
   */
  async make(runId: string, request: BatchRequest, signal: AbortSignal): Promise<BatchFile> {
    this.questions.requireAvailable('retrace train');
    const question = await this.check.questionOf(runId, request);
    const directory = await mkdtemp(join(tmpdir(), 'retrace-batch-'));
    try {
      const file = join(directory, 'batch.arrow');
      requireMade(await this.answered(this.questions.ask({ ...question, file }), signal));
      const { size: numBytes } = await stat(file);
      const rows = createReadStream(file);
      rows.once('close', () => void rm(directory, { recursive: true, force: true }));
      return { numBytes, rows };
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  private async answered(
    asked: AskedQuestion<BatchQuestion>,
    signal: AbortSignal,
  ): Promise<AskedQuestion<BatchQuestion>> {
    const cancel = (): void => void this.questions.cancel(asked);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      return await this.questions.ended(asked);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }
}

function requireMade({ state: { status, failure } }: AskedQuestion<BatchQuestion>): void {
  if (status === 'finished') return;
  const why = failure === null ? `it was ${status}` : `${failure.message} (${failure.code})`;
  throw new ProblemError('BATCH_FAILED', `The batch could not be made: ${why}`);
}
