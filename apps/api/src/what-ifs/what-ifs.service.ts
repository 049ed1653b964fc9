import { Injectable } from '@nestjs/common';
import type { WhatIfQuestion } from '@retrace/process';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { QuestionQueue, type AskedQuestion, type QuestionKind } from '../update-questions/question-queue.js';
import { WhatIfCheck } from './what-if-check.js';
import type { WhatIfUpdateDto } from './what-if-update.dto.js';
import type { WhatIf, WhatIfItem, WhatIfParams, WhatIfRequest } from './what-ifs.dto.js';

const WHAT_IFS: QuestionKind<WhatIfQuestion> = {
  noun: 'What-if',
  includes: (question) => question.kind === 'whatIf',
};

/** Has the trainer's process answer what recorded updates would have been. */
@Injectable()
export class WhatIfsService {
  constructor(
    private readonly questions: QuestionQueue,
    private readonly check: WhatIfCheck,
  ) {}

  list(runId: string, { limit, cursor }: PageQuery): Page<WhatIfItem> {
    const asked = this.questions.list(WHAT_IFS, runId);
    const [before] = cursor ? decodeCursor(cursor, ['string']) : [null];
    const from = before === null ? 0 : asked.findIndex(({ id }) => id === before) + 1;
    return makePage(asked.slice(from), limit, { toItem, keyOf: ({ id }) => [id] });
  }

  /** @throws ProblemError as `WhatIfCheck`; `QUESTIONS_UNAVAILABLE`, `TOO_MANY_QUESTIONS` */
  async ask(runId: string, request: WhatIfRequest): Promise<WhatIf> {
    this.questions.requireAvailable('retrace whatif');
    return toWhatIf(this.questions.ask(await this.check.questionOf(runId, request)));
  }

  /** @throws ProblemError `NOT_FOUND`, `ID_AMBIGUOUS` */
  get(params: WhatIfParams): WhatIf {
    return toWhatIf(this.find(params));
  }

  /** Resolves once its process is gone. @throws ProblemError `NOT_FOUND`, `ID_AMBIGUOUS` */
  async cancel(params: WhatIfParams): Promise<WhatIf> {
    return toWhatIf(await this.questions.cancel(this.find(params)));
  }

  private find({ runId, whatIfId: id }: WhatIfParams): AskedQuestion<WhatIfQuestion> {
    return this.questions.find(WHAT_IFS, { runId, id });
  }
}

function toItem({ id, question, state, answers }: AskedQuestion<WhatIfQuestion>): WhatIfItem {
  const { runId, from, to, assignments, rewardVersion } = question;
  return {
    ...{ whatIfId: id, runId, updateNumber: from, toUpdate: to, set: assignments, rewardVersion },
    ...{ numCompared: answers.length, ...state },
  };
}

function toWhatIf(asked: AskedQuestion<WhatIfQuestion>): WhatIf {
  return { ...toItem(asked), updates: asked.answers as readonly WhatIfUpdateDto[] };
}
