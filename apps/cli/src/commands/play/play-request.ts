import type { BackendChoice } from '@retrace/process';
import type { Split } from '@retrace/trajectory';
import type { CommonOptions } from '../../options.js';
import type { PolicyPrice } from './policy-price.js';

/** The options of `retrace play` when it plays. */
export interface PlayRequest extends CommonOptions {
  readonly policies: readonly string[];
  /** Names or files; empty for that of the recipe. */
  readonly environments: readonly string[];
  readonly recipe?: string;
  readonly splits: readonly Split[];
  readonly seeds: readonly number[];
  readonly tasks: number;
  readonly attempts: number;
  readonly greedy?: true;
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly concurrency: number;
  readonly apiKeyVariable?: string;
  readonly prices: readonly PolicyPrice[];
  readonly backend?: BackendChoice;
}
