import { randomUUID } from 'node:crypto';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { UpdateAnswerMessage, UpdateQuestion } from '@retrace/process';
import { describeAmbiguousId, findByPartOfId } from '@retrace/trajectory';
import { ApiConfig } from '../config/api-config.js';
import { ProblemError } from '../problems/problem.js';
import type { QuestionState } from './question-state.dto.js';
import { QuestionProcess } from './question-process.js';

/** An answer takes the cores that training has. */
const MAX_RUNNING = 1;
const MAX_QUEUED = 4;
/** Their answers are kept in memory. */
const MAX_ENDED = 20;

/** A kind of questions. */
export interface QuestionKind<Q extends UpdateQuestion> {
  /** With a capital letter, for messages. */
  readonly noun: string;
  readonly includes: (question: UpdateQuestion) => question is Q;
}

/** A question that was asked, and what is known of its answer. */
export interface AskedQuestion<Q extends UpdateQuestion = UpdateQuestion> {
  readonly id: string;
  readonly question: Q;
  readonly state: QuestionState;
  /** Those so far: one for each update that is asked about. */
  readonly answers: readonly object[];
}

interface Job {
  asked: AskedQuestion;
  process: QuestionProcess | null;
  /** Called once it has ended. */
  readonly waiting: (() => void)[];
}

/** Has questions about recorded updates answered, each in a process of its own. They are of this API process, and end with it. */
@Injectable()
export class QuestionQueue implements OnModuleDestroy {
  /** By id, oldest first. */
  private readonly jobs = new Map<string, Job>();

  constructor(private readonly config: ApiConfig) {}

  /** The questions of this kind about a run, newest first. */
  list<Q extends UpdateQuestion>({ includes }: QuestionKind<Q>, runId: string): AskedQuestion<Q>[] {
    const ofKind = [...this.jobs.values()].flatMap(({ asked: { question, ...asked } }) =>
      includes(question) && question.runId === runId ? [{ ...asked, question }] : [],
    );
    return ofKind.reverse();
  }

  /**
   * @param command that answers the like without a server; null where none does
   * @throws ProblemError `QUESTIONS_UNAVAILABLE` where this server answers none
   */
  requireAvailable(command: string | null = null): void {
    if (this.config.questionProcess !== null) return;
    const what =
      'This server answers no questions about updates: it has no checkpoints, or no RETRACE_QUESTIONS_SCRIPT';
    throw new ProblemError(
      'QUESTIONS_UNAVAILABLE',
      command === null ? what : `${what}; "${command}" does it`,
    );
  }

  /** @throws ProblemError `TOO_MANY_QUESTIONS` */
  ask<Q extends UpdateQuestion>(question: Q): AskedQuestion<Q> {
    if (this.count('queued') >= MAX_QUEUED) {
      const what = `${MAX_QUEUED} questions about updates wait already; ask again once one has ended, or cancel one`;
      throw new ProblemError('TOO_MANY_QUESTIONS', what);
    }
    const id = randomUUID();
    const job: Job = { asked: { id, question, state: queued(), answers: [] }, process: null, waiting: [] };
    this.jobs.set(id, job);
    this.forgetOldest();
    this.startNext();
    return { ...job.asked, question };
  }

  /**
   * @param id may be the beginning or the end of one
   * @throws ProblemError `NOT_FOUND`, `ID_AMBIGUOUS`
   */
  find<Q extends UpdateQuestion>(
    kind: QuestionKind<Q>,
    { runId, id }: { readonly runId: string; readonly id: string },
  ): AskedQuestion<Q> {
    const { noun: name } = kind;
    const found = findByPartOfId(this.list(kind, runId), id, (asked) => asked.id);
    if (found.kind === 'found') return found.item;
    if (found.kind === 'ambiguous') {
      const candidates = found.items.map((asked) => asked.id);
      throw new ProblemError('ID_AMBIGUOUS', describeAmbiguousId(`${name} "${id}"`, candidates));
    }
    const what = `${name} ${id} of run ${runId} not found; a server keeps the last ${MAX_ENDED}, until it stops`;
    throw new ProblemError('NOT_FOUND', what);
  }

  /** Resolves once it has ended, in whatever way, to how it is then. */
  async ended<Q extends UpdateQuestion>(asked: AskedQuestion<Q>): Promise<AskedQuestion<Q>> {
    const job = this.jobs.get(asked.id);
    if (job === undefined) return asked;
    if (!hasEnded(job.asked.state)) await new Promise<void>((resolve) => job.waiting.push(resolve));
    return { ...job.asked, question: asked.question };
  }

  /** Drops a question that has ended and that nobody asks for again. */
  forget({ id }: AskedQuestion): void {
    this.jobs.delete(id);
  }

  /** Resolves once its process is gone; a question that has ended stays as it is. */
  async cancel<Q extends UpdateQuestion>(asked: AskedQuestion<Q>): Promise<AskedQuestion<Q>> {
    const job = this.jobs.get(asked.id);
    if (job === undefined) return asked;
    if (!hasEnded(job.asked.state)) {
      change(job, { status: 'cancelled', endedAt: new Date().toISOString() });
      job.process?.kill();
      await job.process?.ended;
      this.startNext();
    }
    return { ...job.asked, question: asked.question };
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.jobs.values()].map(({ asked }) => this.cancel(asked)));
  }

  private count(status: QuestionState['status']): number {
    return [...this.jobs.values()].filter(({ asked }) => asked.state.status === status).length;
  }

  private startNext(): void {
    const { questionProcess } = this.config;
    if (questionProcess === null || this.count('running') >= MAX_RUNNING) return;
    const job = [...this.jobs.values()].find(({ asked }) => asked.state.status === 'queued');
    if (job === undefined) return;
    change(job, { status: 'running', startedAt: new Date().toISOString() });
    job.process = new QuestionProcess(questionProcess, job.asked.question, (message) => {
      if (!hasEnded(job.asked.state)) take(job, message);
    });
    void job.process.ended.then(() => {
      this.startNext();
    });
  }

  private forgetOldest(): void {
    const ended = [...this.jobs.values()].filter(({ asked }) => hasEnded(asked.state));
    for (const { asked } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.jobs.delete(asked.id);
  }
}

function queued(): QuestionState {
  return {
    ...{ status: 'queued', askedAt: new Date().toISOString(), startedAt: null, endedAt: null },
    ...{ recomputing: null, failure: null },
  };
}

function hasEnded({ status }: QuestionState): boolean {
  return status !== 'queued' && status !== 'running';
}

function change(job: Job, changed: Partial<QuestionState>): void {
  job.asked = { ...job.asked, state: { ...job.asked.state, ...changed } };
  if (hasEnded(job.asked.state)) for (const resolve of job.waiting.splice(0)) resolve();
}

function take(job: Job, message: UpdateAnswerMessage): void {
  const endedAt = new Date().toISOString();
  switch (message.type) {
    case 'recomputing':
      change(job, { recomputing: { from: message.from, to: message.to } });
      return;
    case 'answered':
      job.asked = { ...job.asked, answers: [...job.asked.answers, message.answer] };
      return;
    case 'finished':
      change(job, { status: 'finished', endedAt });
      return;
    case 'failed': {
      const { code, message: text } = message;
      change(job, { status: 'failed', endedAt, failure: { code, message: text } });
    }
  }
}
