import type { Recipe } from '@retrace/config';
import type { EnvironmentSpec } from '@retrace/environments';
import type { ControlTail } from '@retrace/log';
import type { CheckpointFiles } from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';

export interface OpenPlayerOptions {
  /** As `readPlayerName` reads it. */
  readonly name: string;
  /** Caught up with the log. */
  readonly control: ControlTail;
  readonly checkpoints: CheckpointFiles;
  readonly spec: EnvironmentSpec;
  /** Most episodes at the same time. */
  readonly maxSlots: number;
  /** Context and limits of players that have no run: model directories and servers (default: the whole history as messages). */
  readonly recipe?: Recipe;
  /** Fields that are left out are as in the policy's run; without one, temperature 1. */
  readonly sampling?: Partial<Pick<SamplingParameters, 'temperature' | 'topK' | 'topP' | 'greedy'>>;
  /** Name of the variable that holds the API key of a server; without it, none is sent. */
  readonly apiKeyVariable?: string;
  /** The environment of the process. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Ends the requests of a server. */
  readonly signal: AbortSignal;
}
