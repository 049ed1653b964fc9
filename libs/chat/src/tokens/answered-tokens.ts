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
