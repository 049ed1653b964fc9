import { Injectable } from '@nestjs/common';
import type { ReplayQuestion } from '@retrace/process';
import { ProblemError } from '../problems/problem.js';
import { AskedRun, uncommittedUpdate } from '../update-questions/asked-run.js';
import { QuestionQueue, type AskedQuestion, type QuestionKind } from '../update-questions/question-queue.js';
import type { Replay, ReplayParams, ReplayRequest, ReplayResultDto } from './replays.dto.js';

const REPLAYS: QuestionKind<ReplayQuestion> = {
  noun: 'Replay',
  includes: (question) => question.kind === 'replay',
};

/** Has the trainer's process make recorded updates again. */
@Injectable()
export class ReplaysService {
  constructor(
    private readonly questions: QuestionQueue,
    private readonly run: AskedRun,
  ) {}

  /** @throws ProblemError `NOT_FOUND`, `RUN_NOT_TRAINED`, `INVALID_REQUEST`, `QUESTIONS_UNAVAILABLE`, `TOO_MANY_QUESTIONS` */
  async ask(runId: string, { updateNumber }: ReplayRequest): Promise<Replay> {
    this.questions.requireAvailable('retrace replay');
    await this.run.recipeOf(runId);
    const violation = uncommittedUpdate('updateNumber', updateNumber, await this.run.newestUpdate(runId));
    if (violation !== null) throw new ProblemError('INVALID_REQUEST', violation.rule, [violation]);
    return toReplay(this.questions.ask({ kind: 'replay', runId, updateNumber }));
  }

  /** @throws ProblemError `NOT_FOUND`, `ID_AMBIGUOUS` */
  get(params: ReplayParams): Replay {
    return toReplay(this.find(params));
  }

  /** Resolves once its process is gone. @throws ProblemError `NOT_FOUND`, `ID_AMBIGUOUS` */
  async cancel(params: ReplayParams): Promise<Replay> {
    return toReplay(await this.questions.cancel(this.find(params)));
  }

  private find({ runId, replayId: id }: ReplayParams): AskedQuestion<ReplayQuestion> {
    return this.questions.find(REPLAYS, { runId, id });
  }
}

function toReplay({ id, question, state, answers }: AskedQuestion<ReplayQuestion>): Replay {
  const { runId, updateNumber } = question;
  const [result = null] = answers as readonly ReplayResultDto[];
  return { replayId: id, runId, updateNumber, ...state, result };
}
