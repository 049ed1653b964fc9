import { MISSING_LOGPROB } from '@retrace/chat';
import { EndpointError } from '../endpoint-error.js';

/** @throws EndpointError `MALFORMED_ANSWER` */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EndpointError('MALFORMED_ANSWER', `the answer is not JSON: ${text.slice(0, 80)}`, { cause });
  }
}

/** @throws EndpointError `MALFORMED_ANSWER` unless they are token ids, at least one */
export function readTokenIds(value: unknown, field: string): Int32Array {
  const isToken = (id: unknown): id is number =>
    Number.isInteger(id) && (id as number) >= 0 && (id as number) < 2 ** 31;
  if (Array.isArray(value) && value.length > 0 && value.every(isToken)) return Int32Array.from(value);
  throw malformed(field, 'must be token ids, at least one');
}

/**
 * Reads logprobs: null and −9999 are missing (NaN), and what rounding put above 0 is 0.
 *
 * @throws EndpointError `MALFORMED_ANSWER` unless there is one for each token
 */
export function readLogprobs(
  value: unknown,
  { field, length }: { readonly field: string; readonly length: number },
): Float32Array {
  if (!Array.isArray(value) || value.length !== length) {
    const found = Array.isArray(value) ? `${value.length} values` : 'none';
    throw malformed(field, `must have one for each of ${length} tokens, has ${found}`);
  }
  return Float32Array.from(value as unknown[], (logprob) => {
    if (logprob === null || logprob === MISSING_LOGPROB) return Number.NaN;
    if (typeof logprob !== 'number' || Number.isNaN(logprob)) {
      throw malformed(field, `must be numbers, has ${JSON.stringify(logprob)}`);
    }
    return Math.min(0, logprob);
  });
}

/** @throws EndpointError `MALFORMED_ANSWER` where the server counted other tokens than it told; a server that counts none is believed */
export function checkCount(numTokens: number, counted: unknown, field: string): void {
  if (typeof counted !== 'number' || counted === numTokens) return;
  throw malformed(field, `says ${counted} tokens, the answer has ${numTokens}`);
}

function malformed(field: string, rule: string): EndpointError {
  return new EndpointError('MALFORMED_ANSWER', `${field} ${rule}`);
}
