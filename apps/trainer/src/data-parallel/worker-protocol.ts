import type { Recipe } from '@retrace/config';
import type { BackendName, ComputeErrorCode } from '@retrace/compute';
import type { LossTerms, PolicyErrorCode, ShardJob } from '@retrace/policy';

/** Descriptor under which a worker finds the exchange file; 0 … 2 are its streams, 3 its channel to the trainer. */
export const EXCHANGE_DESCRIPTOR = 4;

/** Messages of the trainer to a worker; the first is `open`. Vectors are in the exchange file. */
export type ToWorker =
  | {
      readonly type: 'open';
      readonly recipe: Recipe;
      readonly vocabSize: number;
      readonly tokenizerHash: string;
      readonly backend: BackendName;
    }
  | {
      readonly type: 'compute';
      readonly job: ShardJob;
      /** Lengths and position of the weights, which the trainer has written. */
      readonly weights: { readonly lengths: readonly number[]; readonly position: number };
      /** Position at which the worker writes the gradients. */
      readonly gradientPosition: number;
    };

/** Answers of a worker, one to each message. */
export type FromWorker =
  | { readonly type: 'opened'; readonly modelHash: string }
  | {
      readonly type: 'computed';
      readonly terms: LossTerms;
      /** Of the gradients, in the exchange file. */
      readonly lengths: readonly number[];
    }
  | { readonly type: 'failed'; readonly failure: WorkerFailure | null; readonly message: string };

/** The typed error that a worker's computation ended with. */
export type WorkerFailure =
  | { readonly thrownBy: 'compute'; readonly code: ComputeErrorCode }
  | { readonly thrownBy: 'policy'; readonly code: PolicyErrorCode };
