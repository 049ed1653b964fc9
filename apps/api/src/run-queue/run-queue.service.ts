import { Injectable } from '@nestjs/common';
import type { RunControlCode, RunControlRequest } from '@retrace/process';
import { ProblemError, type ProblemCode } from '../problems/problem.js';
import { RunControl } from './run-control.js';
import type { TrainingQueue } from './run-queue.dto.js';

const PROBLEM_OF: Readonly<Record<RunControlCode, ProblemCode>> = {
  INVALID_START: 'INVALID_REQUEST',
  QUEUE_FULL: 'TOO_MANY_RUNS',
  NOT_QUEUED: 'NOT_FOUND',
  RUN_UNKNOWN: 'NOT_FOUND',
  RUN_NOT_TRAINED: 'RUN_NOT_TRAINED',
  RUN_ENDED: 'RUN_ENDED',
  RUN_ACTIVE: 'RUN_ACTIVE',
  RUN_NOT_TRAINING: 'RUN_NOT_TRAINING',
  UNANSWERED: 'RUN_CONTROL_UNANSWERED',
  UNAVAILABLE: 'RUN_CONTROL_UNAVAILABLE',
};

/** Asks the supervisor to start and stop runs. */
@Injectable()
export class RunQueueService {
  constructor(private readonly control: RunControl) {}

  /** Empty where no supervisor starts runs, since a reader has done nothing wrong. */
  show(): Promise<TrainingQueue> {
    if (this.control.ask === null)
      return Promise.resolve({ isAvailable: false, running: null, queued: [], ended: [] });
    return this.ask({ kind: 'show' });
  }

  /** @throws ProblemError `RUN_CONTROL_UNAVAILABLE` where no supervisor can; `RUN_CONTROL_UNANSWERED` where it is unknown whether it has; `INVALID_REQUEST`, `TOO_MANY_RUNS`, `NOT_FOUND`, `RUN_…` */
  async ask(request: RunControlRequest): Promise<TrainingQueue> {
    if (this.control.ask === null) {
      const what =
        'This server starts and stops no runs: it is a process of its own, without the supervisor of "retrace up"';
      throw new ProblemError('RUN_CONTROL_UNAVAILABLE', `${what}; "retrace train" trains a run`);
    }
    const answer = await this.control.ask(request);
    if (!answer.ok) throw new ProblemError(PROBLEM_OF[answer.code], answer.message);
    const { running, queued, ended } = answer.queue;
    return { isAvailable: true, running, queued, ended };
  }
}
