import type { TokenEngine } from '@retrace/endpoints';
import { evaluateLogprobs, type Transformer } from '@retrace/policy';
import { CollectorError } from '../collector-error.js';

/** Smallest change of the policy's logprobs that counts; float32 sums in another order may hide a smaller one. */
const LEAST_CHANGE = 1e-5;
/** A server that has the new weights moves by about as much as the policy; one that moved by less than this share has the old ones. */
const STALE_SHARE = 0.1;

/** The policy that a server must compute with. */
export interface CheckedPolicy {
  readonly policyVersion: number;
  /** [numTokens] of the fixed context that servers are checked with, in nats at temperature 1; empty where they are not checked. */
  readonly ownLogprobs: Float32Array;
}

interface WeightCheckOptions {
  /** Address of the server, for messages. */
  readonly url: string;
  readonly engine: Pick<TokenEngine, 'score'>;
  /** A fixed context of the policy's tokens. */
  readonly tokenIds: readonly number[];
  /** Largest difference of a logprob, in nats. */
  readonly maxDifference: number;
}

interface Scores {
  readonly policyVersion: number;
  readonly own: Float32Array;
  readonly served: Float32Array;
}

/**
 * Compares the server's logprobs of one fixed context with those of our own forward pass, after each delivery of weights. A server may confirm
 * a version whose weights it does not compute with: vLLM's `reload_weights` on a processor answers 200 and keeps the old ones.
 */
export class WeightCheck {
  private before: Scores | null = null;

  constructor(private readonly options: WeightCheckOptions) {}

  /**
   * Checks that the server computes with the weights of a policy version.
   *
   * @throws CollectorError `WEIGHTS_DIFFER` when a logprob differs by more than `maxDifference`, or when the server's logprobs stayed while
   *   the policy's moved; EndpointError when the server gives none
   */
  async require(
    { policyVersion, ownLogprobs: own }: CheckedPolicy,
    served: { readonly model: string; readonly signal?: AbortSignal },
  ): Promise<void> {
    const { engine, tokenIds, maxDifference } = this.options;
    const { logprobs: scored } = await engine.score({ tokenIds, model: served.model }, served.signal);
    const now = { policyVersion, own, served: scored };
    const difference = largestDifference(now.own, now.served);
    const stale = this.before !== null && isStale(this.before, now) ? this.before : null;
    if (stale === null && difference <= maxDifference) {
      this.before = now;
      return;
    }
    const cause =
      stale === null
        ? this.bound
        : `and they are still those of version ${stale.policyVersion}, so it has not taken the new weights`;
    throw this.differs(policyVersion, 'delivered', { difference, cause });
  }

  /**
   * Checks weights that were brought to a server again, which had lost them: they are those of the newest version that was checked.
   *
   * @throws as `require`
   */
  async requireAgain(served: { readonly model: string; readonly signal?: AbortSignal }): Promise<void> {
    if (this.before === null) return;
    const { engine, tokenIds, maxDifference } = this.options;
    const { policyVersion, own } = this.before;
    const { logprobs: scored } = await engine.score({ tokenIds, model: served.model }, served.signal);
    const difference = largestDifference(own, scored);
    if (difference > maxDifference)
      throw this.differs(policyVersion, 'delivered again', { difference, cause: this.bound });
  }

  private get bound(): string {
    return `more than collection.endpoint.maxLogprobDifference, ${this.options.maxDifference}`;
  }

  private differs(
    policyVersion: number,
    done: string,
    { difference, cause }: { readonly difference: number; readonly cause: string },
  ): CollectorError {
    return new CollectorError(
      'WEIGHTS_DIFFER',
      `after policy version ${policyVersion} was ${done}, the logprobs of a fixed context of the server at ${this.options.url} differ from those of ` +
        `the policy by up to ${difference.toPrecision(3)} nats, ${cause}; check that it loads this model in a precision that the recipe allows`,
    );
  }
}

/** The policy's logprobs of each token after those before it: [numTokens], NaN for the first, which has no context. */
export async function ownLogprobs(model: Transformer, tokenIds: readonly number[]): Promise<Float32Array> {
  if (tokenIds.length === 0) return new Float32Array(0);
  const batch = { tokenIds: Int32Array.from(tokenIds), sequenceOffsets: Int32Array.of(0, tokenIds.length) };
  const options = { temperature: 1, maxTokensPerMicroBatch: tokenIds.length };
  const { logprobs } = await evaluateLogprobs(model, batch, options);
  return logprobs.fill(Number.NaN, 0, 1);
}

/** Infinity where only one of them has a value. */
function largestDifference(a: Float32Array, b: Float32Array): number {
  let largest = 0;
  // The first token has no logprob.
  for (let n = 1; n < a.length; n++) {
    const difference = Math.abs(a[n] - b[n]);
    largest = Math.max(largest, Number.isNaN(difference) ? Infinity : difference);
  }
  return largest;
}

function isStale(before: Scores, now: Scores): boolean {
  const own = largestDifference(before.own, now.own);
  return own > LEAST_CHANGE && largestDifference(before.served, now.served) < STALE_SHARE * own;
}
