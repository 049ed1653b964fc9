import { mkdtemp, open, rm } from 'node:fs/promises';
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
   * Resolves once the batch is made.
   *
   * @param signal cancels it
   * @throws ProblemError as `BatchCheck`; `QUESTIONS_UNAVAILABLE`, `TOO_MANY_QUESTIONS`, `BATCH_FAILED` with the reason; `STORE_UNAVAILABLE` where the store
   *   does not have an episode yet, `SHUTTING_DOWN`
   */
  async make(runId: string, request: BatchRequest, signal: AbortSignal): Promise<BatchFile> {
    this.questions.requireAvailable();
    const question = await this.check.questionOf(runId, request);
    const directory = await mkdtemp(join(tmpdir(), 'retrace-batch-'));
    try {
      const file = join(directory, 'batch.arrow');
      requireMade(await this.answered(this.questions.ask({ ...question, file }), signal));
      return await readAway(file);
    } finally {
      await rm(directory, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  private async answered(
    asked: AskedQuestion<BatchQuestion>,
    signal: AbortSignal,
  ): Promise<AskedQuestion<BatchQuestion>> {
    const cancelling: Promise<unknown>[] = [];
    const cancel = (): void => void cancelling.push(this.questions.cancel(asked));
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      return await this.questions.ended(asked);
    } finally {
      signal.removeEventListener('abort', cancel);
      // Its process may still write.
      await Promise.all(cancelling);
      this.questions.forget(asked);
    }
  }
}

/** Opens a file that is about to be removed: what is open stays readable, and nobody has to remove it later. */
async function readAway(file: string): Promise<BatchFile> {
  const opened = await open(file);
  try {
    const { size: numBytes } = await opened.stat();
    return { numBytes, rows: opened.createReadStream() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Of a store that follows the log. An update has episodes that the store once had, so they don't come. */
const NOT_YET = 'NOT_YET_VISIBLE';

function requireMade({ question, state: { status, failure } }: AskedQuestion<BatchQuestion>): void {
  if (status === 'finished') return;
  if (failure === null) throw new ProblemError('SHUTTING_DOWN', 'The batch was cancelled before it was made');
  const { code, message } = failure;
  const what = `The batch could not be made: ${message} (${code})`;
  const mayCome = code === NOT_YET && question.updateNumber === null;
  throw new ProblemError(mayCome ? 'STORE_UNAVAILABLE' : 'BATCH_FAILED', what);
}
