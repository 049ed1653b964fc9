import { setTimeout as sleep } from 'node:timers/promises';
import {
  EnvironmentError,
  type Environment,
  type Observation,
  type ResetOptions,
  type StepResult,
} from '@retrace/environments';
import type { Lease, ServerPool } from '../servers/server-pool.js';
import type { RemoteSession, ServerAdapter } from './adapter.js';
import { taskFault } from './remote-tasks.js';

/** How long a server may take to close an episode. */
const CLOSE_TIMEOUT_MS = 2_000;

interface RemoteEnvironmentOptions {
  readonly name: string;
  readonly pool: ServerPool;
  readonly adapter: ServerAdapter;
  readonly maxSteps: number;
  /** Whether the text of an observation is its anchor where the server gives none. */
  readonly anchorsByText: boolean;
}

/**
 * One environment on one of the servers. It takes a place on a server before its first reset, and gives it back when it is closed, or between two
 * episodes when the server is to be replaced.
 */
export class RemoteEnvironment implements Environment {
  /** Text of the episode's first observation; '' before the first reset. */
  opening = '';
  private lease: Lease | null = null;
  private session: RemoteSession | null = null;
  private state: 'new' | 'playing' | 'over' = 'new';
  private numSteps = 0;
  /** Whether the place is kept for an episode that was not reset yet. */
  private isReady = false;
  /** Whether an episode was begun, by a reset that may be under way, and is not over. */
  private isUnderWay = false;
  /** Counts calls of `close`, so that a reset notices that it was given up. */
  private numCloses = 0;

  constructor(private readonly options: RemoteEnvironmentOptions) {}

  /** Waits for a place on a server. */
  async ready(): Promise<void> {
    if (this.isReady) return;
    const { numCloses } = this;
    if (this.lease?.beginEpisode() === false) await this.leave(false);
    this.lease ??= await this.takePlace(numCloses);
    this.isReady = true;
  }

  reset(options: ResetOptions): Promise<Observation> {
    const fault = taskFault(options.task);
    if (fault !== null) throw new EnvironmentError('INVALID_TASK', `${this.options.name}: ${fault}`);
    return this.begin(options);
  }

  step(action: string): Promise<StepResult> {
    const { session, state } = this;
    if (state === 'new')
      throw new EnvironmentError('NOT_RESET', `${this.options.name}: reset before the first step`);
    if (state === 'over' || session === null) {
      throw new EnvironmentError(
        'EPISODE_OVER',
        `${this.options.name}: the episode is over: reset before the next step`,
      );
    }
    return this.play(session, action);
  }

  /** Gives the place back. In the middle of an episode the server is asked whether it still answers: something may have failed. */
  async close(): Promise<void> {
    const mayHaveFailed = this.isUnderWay;
    this.numCloses += 1;
    this.state = this.state === 'new' ? 'new' : 'over';
    this.isUnderWay = false;
    await this.leave(mayHaveFailed);
  }

  private async begin(options: ResetOptions): Promise<Observation> {
    const { numCloses } = this;
    await this.ready();
    const { lease } = this;
    if (lease === null || numCloses !== this.numCloses) throw this.givenUp();
    this.isReady = false;
    this.isUnderWay = true;
    const session = this.session ?? (await this.open(lease, numCloses));
    const observation = await session.reset(options);
    this.opening = observation.text;
    this.state = 'playing';
    this.numSteps = 0;
    return this.anchored(observation);
  }

  private async takePlace(numCloses: number): Promise<Lease> {
    for (;;) {
      const lease = await this.options.pool.take();
      if (numCloses === this.numCloses && lease.beginEpisode()) return lease;
      lease.release(false);
      if (numCloses !== this.numCloses) throw this.givenUp();
    }
  }

  private async open(lease: Lease, numCloses: number): Promise<RemoteSession> {
    const session = await this.options.adapter.open(lease.url);
    if (numCloses !== this.numCloses) {
      await session.close().catch(() => undefined);
      throw this.givenUp();
    }
    this.session = session;
    return session;
  }

  private givenUp(): EnvironmentError {
    return new EnvironmentError('EPISODE_OVER', `${this.options.name}: closed before its reset had ended`);
  }

  private async play(session: RemoteSession, action: string): Promise<StepResult> {
    const answer = await session.step(action);
    const result = { ...answer, observation: this.anchored(answer.observation) };
    this.numSteps += 1;
    const isCut = !result.terminated && !result.truncated && this.numSteps >= this.options.maxSteps;
    if (isCut || result.terminated || result.truncated) {
      this.state = 'over';
      this.isUnderWay = false;
      this.lease?.endEpisode(() => void this.leave(false));
    }
    return isCut ? { ...result, truncated: true } : result;
  }

  private anchored(observation: Observation): Observation {
    if (!this.options.anchorsByText || observation.anchor !== null) return observation;
    return { ...observation, anchor: observation.text };
  }

  private async leave(mayHaveFailed: boolean): Promise<void> {
    const { lease, session } = this;
    this.lease = null;
    this.session = null;
    this.isReady = false;
    const closed = Promise.resolve(session?.close()).then(
      () => true,
      () => true,
    );
    // A server that hangs must not keep its place: it is found out, and replaced, once the place is given back.
    const hasAnswered = await Promise.race([closed, sleep(CLOSE_TIMEOUT_MS, false, { ref: false })]);
    lease?.release(mayHaveFailed || !hasAnswered);
  }
}
