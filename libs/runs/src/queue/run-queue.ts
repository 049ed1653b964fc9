import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError, isRecipe, parseRecipe, requireInside, type Recipe } from '@retrace/config';
import type {
  AgentAddress,
  DataDirectory,
  QueueItem,
  RunControlAnswer,
  RunControlCode,
  RunControlRequest,
  RunQueueState,
} from '@retrace/process';
import { describeNothingLearned, type RunSummary } from '../end/run-summary.js';
import { RunsError } from '../runs-error.js';
import { recipeOfStart, requireStart, type StoredRuns } from './start-request.js';

export const MAX_QUEUED = 20;
const MAX_ENDED = 20;

/** A run that is being trained. */
export interface TrainedRun {
  readonly runId: string;
  /** Stops it so that it can be resumed. */
  stop(): Promise<void>;
}

/** Trains a recipe to its end, or until it is stopped; says when the run has begun. */
export type Train = (recipe: Recipe, onBegun: (training: TrainedRun) => void) => Promise<RunSummary>;

interface RunQueueOptions extends StoredRuns {
  readonly directory: Pick<DataDirectory, 'runQueue' | 'keepRunQueue'>;
  readonly say: (level: 'info' | 'error', message: string) => void;
  /** The proxy for agents; null where none runs. */
  readonly agents: () => AgentAddress | null;
}

/** The run that is trained now. */
interface CurrentRun {
  item: QueueItem;
  training: TrainedRun | null;
  isStopped: boolean;
}

/** A refusal: thrown inside, and sent to the caller. */
class Refusal extends Error {
  constructor(
    readonly code: RunControlCode,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The runs that callers of the API start. One is trained at a time, in the order in which they were asked for, after the run that the server was
 * started with. Those that wait, and the one that is trained, are in a file, with which the next server of the directory goes on.
 */
export class RunQueue {
  private waiting: QueueItem[];
  private ended: QueueItem[] = [];
  private current: CurrentRun | null = null;
  private wake = new AbortController();
  private readonly stoppedIds = new Set<string>();

  constructor(private readonly options: RunQueueOptions) {
    this.waiting = readItems(options.directory.runQueue());
  }

  get isTraining(): boolean {
    return this.current !== null;
  }

  /** Answers a caller of the API. Never rejects. */
  async answer(request: RunControlRequest): Promise<RunControlAnswer> {
    try {
      if (request.kind === 'start') {
        const { start, recipe } = await requireStart(request.start, this.options);
        this.add({ name: recipe.name, start });
      }
      if (request.kind === 'resume') await this.resume(request.runId);
      if (request.kind === 'stop') this.stop(request.runId);
      if (request.kind === 'cancel') this.cancel(request.queueId);
      return { ok: true, queue: this.state(), agents: this.options.agents() };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof Refusal) return { ok: false, code: error.code, message };
      if (error instanceof ConfigError || error instanceof RunsError)
        return { ok: false, code: 'INVALID_START', message };
      this.options.say('error', `run queue: ${message}`);
      return {
        ok: false,
        code: 'UNAVAILABLE',
        message: 'the supervisor could not do that; its log has the reason',
      };
    }
  }

  /** Trains the run that the server was started with, before those that wait. */
  async trainFirst(recipe: Recipe, train: Train): Promise<RunSummary> {
    return this.train(newItem({ name: recipe.name }), () => Promise.resolve(recipe), train);
  }

  /** Trains what waits, one after the other, until the signal aborts. A run that fails ends neither the queue nor the server. */
  async work(train: Train, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.waiting.length === 0) {
        await this.untilAdded(signal);
        continue;
      }
      const [item] = this.waiting;
      const goesOn = (): boolean => signal.aborted && !this.stoppedIds.has(item.queueId);
      try {
        const summary = await this.train(item, () => this.recipeOf(item), train);
        // One that was stopped by a caller does not go on with the next server.
        if (summary.reason === 'stopped' && goesOn()) return;
        const isWhole = summary.reason === 'finished';
        const problem = isWhole && describeNothingLearned({ runId: summary.runId, updates: summary });
        if (problem) this.options.say('error', problem);
        this.options.say('info', `run ${summary.runId} of the queue has ended (${summary.reason})`);
      } catch (error) {
        if (goesOn()) return;
        this.options.say('error', `the run ${item.name} of the queue failed: ${(error as Error).message}`);
      }
      this.waiting = this.waiting.filter(({ queueId }) => queueId !== item.queueId);
      this.keep();
    }
  }

  private async train(item: QueueItem, recipeOf: () => Promise<Recipe>, train: Train): Promise<RunSummary> {
    const current: CurrentRun = { item: { ...item, status: 'running' }, training: null, isStopped: false };
    this.current = current;
    try {
      const summary = await train(await recipeOf(), (training) => {
        current.training = training;
        current.item = { ...current.item, runId: training.runId };
        this.waiting = this.waiting.map((one) =>
          one.queueId === item.queueId ? { ...one, runId: training.runId } : one,
        );
        this.keep();
        if (current.isStopped) void training.stop();
      });
      this.end({ ...current.item, status: summary.reason, detail: summary.detail });
      return summary;
    } catch (error) {
      const { message } = error as Error;
      this.end({ ...current.item, status: current.isStopped ? 'stopped' : 'failed', detail: message });
      throw error;
    } finally {
      this.current = null;
    }
  }

  private state(): RunQueueState {
    const running = this.current?.item ?? null;
    const queued = this.waiting.filter(({ queueId }) => queueId !== running?.queueId);
    return { running, queued, ended: this.ended };
  }

  private add(asked: Pick<QueueItem, 'name'> & Partial<QueueItem>): void {
    if (this.state().queued.length >= MAX_QUEUED) {
      throw new Refusal(
        'QUEUE_FULL',
        `${MAX_QUEUED} runs wait already; cancel one, or wait until one has ended`,
      );
    }
    this.replaceWaiting([...this.waiting, newItem(asked)]);
    this.wake.abort();
  }

  private async resume(runId: string): Promise<void> {
    const run = (await this.options.readState()).run(runId);
    if (run === undefined) throw new Refusal('RUN_UNKNOWN', `Run ${runId} not found`);
    const { started, ended } = run;
    if (started.runKind !== 'trained' || !isRecipe(started.recipe))
      throw new Refusal('RUN_NOT_TRAINED', `Run ${runId} is not trained here, so it can't be resumed`);
    if (ended !== null)
      throw new Refusal('RUN_ENDED', `Run ${runId} has ended (${ended.reason}); start another one`);
    const { running, queued } = this.state();
    if ([running, ...queued].some((item) => item?.runId === runId))
      throw new Refusal('RUN_ACTIVE', `Run ${runId} is being trained, or waits for that already`);
    // The run may have been imported, so its recipe may be anybody's.
    requireInside(parseRecipe(started.recipe));
    this.add({ name: started.name, runId });
  }

  private stop(runId: string): void {
    const { current } = this;
    if (current?.item.runId !== runId) {
      const rule = 'only the run that this server trains can be stopped here';
      throw new Refusal('RUN_NOT_TRAINING', `Run ${runId} is not being trained by this server; ${rule}`);
    }
    current.isStopped = true;
    this.stoppedIds.add(current.item.queueId);
    current.item = { ...current.item, status: 'stopping' };
    void current.training?.stop();
  }

  private cancel(queueId: string): void {
    if (!this.state().queued.some((item) => item.queueId === queueId))
      throw new Refusal(
        'NOT_QUEUED',
        `No run with the queue id ${queueId} waits; it may have begun, or ended`,
      );
    this.replaceWaiting(this.waiting.filter((item) => item.queueId !== queueId));
  }

  private async recipeOf({ start, runId }: QueueItem): Promise<Recipe> {
    if (runId === null && start !== null) return recipeOfStart(start, this.options);
    const run = (await this.options.readState()).run(runId ?? '');
    if (run === undefined || run.ended !== null)
      throw new RunsError('RUN_UNKNOWN', `run ${runId ?? ''} can't be resumed: it has ended, or was deleted`);
    return parseRecipe(run.started.recipe);
  }

  private end(item: QueueItem): void {
    this.ended = [item, ...this.ended].slice(0, MAX_ENDED);
  }

  /** Takes what a caller asks for once it is in the file. */
  private replaceWaiting(items: readonly QueueItem[]): void {
    this.options.directory.keepRunQueue(items);
    this.waiting = [...items];
  }

  /** A disk that is full ends neither the run nor the queue. */
  private keep(): void {
    try {
      this.options.directory.keepRunQueue(this.waiting);
    } catch (error) {
      this.options.say('error', `the queue of runs can’t be kept in its file: ${(error as Error).message}`);
    }
  }

  private async untilAdded(signal: AbortSignal): Promise<void> {
    this.wake = new AbortController();
    const either = AbortSignal.any([signal, this.wake.signal]);
    while (!either.aborted) await sleep(2 ** 30, undefined, { signal: either }).catch(() => undefined);
  }
}

function newItem(item: Pick<QueueItem, 'name'> & Partial<QueueItem>): QueueItem {
  return {
    ...{ queueId: randomUUID(), runId: null, start: null, status: 'queued', detail: '' },
    ...{ queuedAt: new Date().toISOString() },
    ...item,
  };
}

/** Those that a server left; what is no item is left out. */
function readItems(stored: unknown): QueueItem[] {
  if (!Array.isArray(stored)) return [];
  return stored
    .filter((item): item is Partial<QueueItem> => typeof item === 'object' && item !== null)
    .filter(({ queueId, name }) => typeof queueId === 'string' && typeof name === 'string')
    .slice(0, MAX_QUEUED + 1)
    .map((item) => newItem(item as QueueItem));
}
