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

interface RemoteEnvironmentOptions {
  readonly name: string;
  readonly pool: ServerPool;
  readonly adapter: ServerAdapter;
  readonly maxSteps: number;
  /** Whether the text of an observation is its anchor where the server gives none. */
  readonly anchorsByText: boolean;
}

/** One environment on one of the servers. It takes a place on a server at its first reset and gives it back when it is closed. */
export class RemoteEnvironment implements Environment {
  /** Text of the episode's first observation; '' before the first reset. */
  opening = '';
  private lease: Lease | null = null;
  private session: RemoteSession | null = null;
  private state: 'new' | 'playing' | 'over' = 'new';
  private numSteps = 0;

  constructor(private readonly options: RemoteEnvironmentOptions) {}

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

  async close(): Promise<void> {
    this.state = this.state === 'new' ? 'new' : 'over';
    await this.leave(true);
  }

  private async begin(options: ResetOptions): Promise<Observation> {
    if (this.lease?.beginEpisode() === false) await this.leave(false);
    if (this.lease === null) {
      this.lease = await this.options.pool.take();
      this.lease.beginEpisode();
    }
    this.session ??= await this.options.adapter.open(this.lease.url);
    const observation = await this.session.reset(options);
    this.opening = observation.text;
    this.state = 'playing';
    this.numSteps = 0;
    return this.anchored(observation);
  }

  private async play(session: RemoteSession, action: string): Promise<StepResult> {
    const answer = await session.step(action);
    const result = { ...answer, observation: this.anchored(answer.observation) };
    this.numSteps += 1;
    const isCut = !result.terminated && !result.truncated && this.numSteps >= this.options.maxSteps;
    if (isCut || result.terminated || result.truncated) this.state = 'over';
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
    await session?.close().catch(() => undefined);
    lease?.release(mayHaveFailed && this.state === 'playing');
  }
}
