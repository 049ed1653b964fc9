import type { CommonOptions } from '../../options.js';
import type { ImportFormatName } from './import-formats.js';

export interface ImportOptions extends CommonOptions {
  readonly format?: ImportFormatName;
  readonly run?: string;
  readonly environment?: string;
  readonly verify?: true;
  readonly environmentUrl?: string;
  readonly seed: number;
  readonly temperature?: number;
  readonly logprobs?: 'processed' | 'raw';
  /** A model directory. */
  readonly tokenizer?: string;
  readonly report?: string;
}
