import { AnswerFault } from '../calls/answer-fault.js';
import { MISSING_LOGPROB } from './engine-tokens.js';

/** @throws AnswerFault unless they are token ids, at least one */
export function readTokenIds(value: unknown, field: string): Int32Array {
  const isToken = (id: unknown): id is number =>
    Number.isInteger(id) && (id as number) >= 0 && (id as number) < 2 ** 31;
  if (Array.isArray(value) && value.length > 0 && value.every(isToken)) return Int32Array.from(value);
  throw new AnswerFault(`${field} must be token ids, at least one`);
}

/**
 * Reads logprobs: null and −9999 are missing (NaN), and what rounding put above 0 is 0.
 *
 * @throws AnswerFault unless there is one for each token
 */
export function readLogprobs(
  value: unknown,
  { field, length }: { readonly field: string; readonly length: number },
): Float32Array {
  if (!Array.isArray(value) || value.length !== length) {
    const found = Array.isArray(value) ? `${value.length} values` : 'none';
    throw new AnswerFault(`${field} must have one for each of ${length} tokens, has ${found}`);
  }
  return Float32Array.from(value as unknown[], (logprob) => {
    if (logprob === null || logprob === MISSING_LOGPROB) return Number.NaN;
    if (typeof logprob !== 'number' || Number.isNaN(logprob)) {
      throw new AnswerFault(`${field} must be numbers, has ${JSON.stringify(logprob)}`);
    }
    return Math.min(0, logprob);
  });
}

/** A model's k likeliest tokens at each of M places. */
export interface LikeliestOfPrompt {
  /** [M·k] Ids, those of a place together, from the likeliest on; 0 at the first place. */
  readonly ids: Int32Array;
  /** [M·k] log π in nats, ≤ 0; NaN at the first place. */
  readonly logprobs: Float32Array;
}

/** A token that a server names with its log-probability, neither of them checked. */
export type NamedToken = readonly [logprob: unknown, id: unknown];

/**
 * Reads the likeliest tokens at each place of a prompt but its first, which nothing is before.
 *
 * @param places those of each place, from the likeliest on; more than `topK` are left out
 * @throws AnswerFault unless each place has `topK` ids with logprobs
 */
export function readLikeliest(
  places: readonly (readonly NamedToken[])[],
  { field, length, topK }: { readonly field: string; readonly length: number; readonly topK: number },
): LikeliestOfPrompt {
  if (places.length !== length)
    throw new AnswerFault(`${field} must have one for each of ${length} tokens, has ${places.length} values`);
  const ids = new Int32Array(length * topK);
  const logprobs = new Float32Array(length * topK).fill(Number.NaN);
  for (let n = 1; n < length; n++) {
    const place = `${field}[${n}]`;
    const named = places[n].slice(0, topK);
    if (named.length !== topK)
      throw new AnswerFault(`${place} must have the ${topK} likeliest tokens, has ${named.length}`);
    ids.set(
      readTokenIds(
        named.map(([, id]) => id),
        place,
      ),
      n * topK,
    );
    const read = readLogprobs(
      named.map(([logprob]) => logprob),
      { field: place, length: topK },
    );
    if (read.some(Number.isNaN)) throw new AnswerFault(`${place} must have a logprob of each token`);
    logprobs.set(read, n * topK);
  }
  return { ids, logprobs };
}

/** @throws AnswerFault where the server counted other tokens than it told; a server that counts none is believed */
export function checkCount(numTokens: number, counted: unknown, field: string): void {
  if (typeof counted !== 'number' || counted === numTokens) return;
  throw new AnswerFault(`${field} says ${counted} tokens, the answer has ${numTokens}`);
}

/** Token ids as a list, which JSON writes as one. `Array.from` takes ten times as long, which long contexts feel. */
export function tokenList(tokenIds: ArrayLike<number>): readonly number[] {
  const list = new Array<number>(tokenIds.length);
  for (let t = 0; t < list.length; t += 1) list[t] = tokenIds[t];
  return list;
}
