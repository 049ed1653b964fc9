import { randomUUID } from 'node:crypto';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { WhatIfMessage, WhatIfQuestion } from '@retrace/process';
import { describeAmbiguousId, findByPartOfId } from '@retrace/trajectory';
import { ApiConfig } from '../config/api-config.js';
import { decodeCursor } from '../paging/cursor.js';
import { pageOf, type Page, type PageQuery } from '../paging/page.js';
import { ProblemError } from '../problems/problem.js';
import { WhatIfCheck } from './what-if-check.js';
import { WhatIfProcess } from './what-if-process.js';
import type { WhatIfUpdateDto } from './what-if-update.dto.js';
import type { WhatIf, WhatIfItem, WhatIfParams, WhatIfRequest } from './what-ifs.dto.js';

/** A what-if takes the cores that training has. */
const MAX_RUNNING = 1;
const MAX_QUEUED = 4;
/** Their answers are kept in memory. */
const MAX_ENDED = 20;

/** A what-if of this process. */
interface Job {
  readonly question: WhatIfQuestion;
  whatIf: WhatIf;
  process: WhatIfProcess | null;
}

/** Answers what recorded updates would have been, each in a process of its own. Jobs are of this API process, and end with it. */
@Injectable()
export class WhatIfsService implements OnModuleDestroy {
  /** By id, oldest first. */
  private readonly jobs = new Map<string, Job>();

  constructor(
    private readonly config: ApiConfig,
    private readonly check: WhatIfCheck,
  ) {}

  list(runId: string, { limit, cursor }: PageQuery): Page<WhatIfItem> {
    const newest = [...this.jobs.values()].map(({ whatIf }) => whatIf).reverse();
    const ofRun = newest.filter((whatIf) => whatIf.runId === runId);
    const [before] = cursor ? decodeCursor(cursor, ['string']) : [null];
    const from = before === null ? 0 : ofRun.findIndex(({ whatIfId }) => whatIfId === before) + 1;
    return pageOf(ofRun.slice(from), limit, {
      toItem: ({ updates: _, ...item }) => item,
      keyOf: ({ whatIfId }) => [whatIfId],
    });
  }

  /** @throws ProblemError as `WhatIfCheck`; `WHAT_IF_UNAVAILABLE`, `TOO_MANY_WHAT_IFS` */
  async ask(runId: string, request: WhatIfRequest): Promise<WhatIf> {
    if (this.config.whatIfProcess === null) {
      const what = 'This server computes no what-ifs: it has no checkpoints, or no RETRACE_WHAT_IF_SCRIPT';
      throw new ProblemError('WHAT_IF_UNAVAILABLE', `${what}; "retrace whatif" computes them`);
    }
    const question = await this.check.questionOf(runId, request);
    if (this.count('queued') >= MAX_QUEUED) {
      const what = `${MAX_QUEUED} what-ifs wait already; ask again once one has ended, or cancel one`;
      throw new ProblemError('TOO_MANY_WHAT_IFS', what);
    }
    const job: Job = { question, whatIf: queued(question), process: null };
    this.jobs.set(job.whatIf.whatIfId, job);
    this.forgetOldest();
    this.startNext();
    return job.whatIf;
  }

  /** @throws ProblemError `NOT_FOUND`, `ID_AMBIGUOUS` */
  get(params: WhatIfParams): WhatIf {
    return this.job(params).whatIf;
  }

  /** Resolves once its process is gone. @throws ProblemError `NOT_FOUND`, `ID_AMBIGUOUS` */
  async cancel(params: WhatIfParams): Promise<WhatIf> {
    const job = this.job(params);
    if (!hasEnded(job.whatIf)) {
      job.whatIf = { ...job.whatIf, status: 'cancelled', endedAt: new Date().toISOString() };
      job.process?.kill();
      await job.process?.ended;
      this.startNext();
    }
    return job.whatIf;
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(
      [...this.jobs.values()].map(({ whatIf: { runId, whatIfId } }) => this.cancel({ runId, whatIfId })),
    );
  }

  private job({ runId, whatIfId }: WhatIfParams): Job {
    const ofRun = [...this.jobs.values()].filter(({ whatIf }) => whatIf.runId === runId);
    const found = findByPartOfId(ofRun, whatIfId, ({ whatIf }) => whatIf.whatIfId);
    if (found.kind === 'found') return found.item;
    if (found.kind === 'ambiguous') {
      const candidates = found.items.map(({ whatIf }) => whatIf.whatIfId);
      throw new ProblemError('ID_AMBIGUOUS', describeAmbiguousId(`What-if "${whatIfId}"`, candidates));
    }
    const what = `What-if ${whatIfId} of run ${runId} not found; a server keeps the last ${MAX_ENDED}, until it stops`;
    throw new ProblemError('NOT_FOUND', what);
  }

  private count(status: WhatIf['status']): number {
    return [...this.jobs.values()].filter(({ whatIf }) => whatIf.status === status).length;
  }

  private startNext(): void {
    const { whatIfProcess } = this.config;
    if (whatIfProcess === null || this.count('running') >= MAX_RUNNING) return;
    const job = [...this.jobs.values()].find(({ whatIf }) => whatIf.status === 'queued');
    if (job === undefined) return;
    job.whatIf = { ...job.whatIf, status: 'running', startedAt: new Date().toISOString() };
    job.process = new WhatIfProcess(whatIfProcess, job.question, (message) => {
      if (hasEnded(job.whatIf)) return;
      job.whatIf = after(job.whatIf, message);
    });
    void job.process.ended.then(() => {
      this.startNext();
    });
  }

  private forgetOldest(): void {
    const ended = [...this.jobs.values()].filter(({ whatIf }) => hasEnded(whatIf));
    for (const { whatIf } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED)))
      this.jobs.delete(whatIf.whatIfId);
  }
}

function queued({ runId, from, to, assignments, rewardVersion }: WhatIfQuestion): WhatIf {
  return {
    ...{ whatIfId: randomUUID(), runId, status: 'queued', updateNumber: from, toUpdate: to },
    ...{ set: assignments, rewardVersion, askedAt: new Date().toISOString(), startedAt: null, endedAt: null },
    ...{ numCompared: 0, recomputing: null, failure: null, updates: [] },
  };
}

function hasEnded({ status }: WhatIf): boolean {
  return status !== 'queued' && status !== 'running';
}

function after(whatIf: WhatIf, message: WhatIfMessage): WhatIf {
  const endedAt = new Date().toISOString();
  switch (message.type) {
    case 'recomputing':
      return { ...whatIf, recomputing: { from: message.from, to: message.to } };
    case 'compared': {
      const updates = [...whatIf.updates, message.update as WhatIfUpdateDto];
      return { ...whatIf, updates, numCompared: updates.length };
    }
    case 'finished':
      return { ...whatIf, status: 'finished', endedAt };
    case 'failed':
      return {
        ...whatIf,
        status: 'failed',
        endedAt,
        failure: { code: message.code, message: message.message },
      };
  }
}
