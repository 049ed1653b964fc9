import type { StepTokenColumns } from '../events/episode-events.js';
import type { Problem } from './problem.js';

/** A logprob is ≤ 0; float32 log-softmax of a near-certain token may end a rounding error above it. */
const LOGPROB_TOLERANCE = 1e-3;

/**
 * Finds the first broken rule among the token columns of a step, or null:
 *
 * - all columns that are not null are as long as `tokenIds`, which are ≥ 0;
 * - `actionMask` is 0 or 1, and no 0 follows a 1 (observation tokens first, then action tokens);
 * - `tokenLogprobs` are 0 where not sampled; where sampled, finite and ≤ 0, or NaN for missing;
 * - `tokenRawLogprobs` and `tokenEntropies` likewise, except that NaN is allowed anywhere (entropies are ≥ 0);
 * - `tokenPolicyVersions` are ≥ −1.
 */
export function findTokenColumnProblem(columns: StepTokenColumns): Problem | null {
  return (
    findColumnLengthProblem(columns) ??
    findIntegerProblem(columns.tokenIds, 0, 'payload.tokenIds') ??
    findMaskProblem(columns.actionMask, 'payload.actionMask') ??
    findLogprobProblem(columns) ??
    findOptionalProblem(columns, 'tokenRawLogprobs', isLogprobOrNaN) ??
    findOptionalProblem(columns, 'tokenEntropies', isEntropyOrNaN) ??
    findIntegerProblem(columns.tokenPolicyVersions, -1, 'payload.tokenPolicyVersions')
  );
}

function findColumnLengthProblem(columns: StepTokenColumns): Problem | null {
  const numTokens = columns.tokenIds.length;
  const names = [
    'actionMask',
    'tokenLogprobs',
    'tokenRawLogprobs',
    'tokenEntropies',
    'tokenPolicyVersions',
  ] as const;
  for (const name of names) {
    const column = columns[name];
    if (column !== null && column.length !== numTokens) {
      const rule = `must be as long as tokenIds, which has ${numTokens} tokens`;
      return { field: `payload.${name}.length`, value: column.length, rule };
    }
  }
  return null;
}

function findIntegerProblem(values: Int32Array, minimum: number, field: string): Problem | null {
  for (let t = 0; t < values.length; t += 1) {
    if (values[t] < minimum)
      return { field: `${field}[${t}]`, value: values[t], rule: `must be ≥ ${minimum}` };
  }
  return null;
}

function findMaskProblem(mask: Uint8Array, field: string): Problem | null {
  for (let t = 0; t < mask.length; t += 1) {
    if (mask[t] > 1) return { field: `${field}[${t}]`, value: mask[t], rule: 'must be 0 or 1' };
    if (t > 0 && mask[t] < mask[t - 1]) {
      return {
        field: `${field}[${t}]`,
        value: 0,
        rule: 'must be 1: action tokens come after all observation tokens',
      };
    }
  }
  return null;
}

function findLogprobProblem({ tokenLogprobs, actionMask }: StepTokenColumns): Problem | null {
  for (let t = 0; t < tokenLogprobs.length; t += 1) {
    const value = tokenLogprobs[t];
    if (actionMask[t] === 1 ? isLogprobOrNaN(value) : value === 0) continue;
    const rule =
      actionMask[t] === 1
        ? 'must be a finite logprob ≤ 0, or NaN for missing'
        : 'must be 0 where actionMask is 0';
    return { field: `payload.tokenLogprobs[${t}]`, value, rule };
  }
  return null;
}

/** Checks a column of values that may be unknown everywhere. */
function findOptionalProblem(
  columns: StepTokenColumns,
  name: 'tokenRawLogprobs' | 'tokenEntropies',
  isAllowed: (value: number) => boolean,
): Problem | null {
  const { [name]: values, actionMask } = columns;
  const at = values?.findIndex((value, t) => !isAllowedValue(value, actionMask[t], isAllowed)) ?? -1;
  if (values === null || at < 0) return null;
  const allowed = name === 'tokenEntropies' ? 'entropy ≥ 0' : 'logprob ≤ 0';
  const rule = `must be NaN, or 0 where actionMask is 0 and a finite ${allowed} where it is 1`;
  return { field: `payload.${name}[${at}]`, value: values[at], rule };
}

function isAllowedValue(value: number, mask: number, isFine: (value: number) => boolean): boolean {
  return mask === 1 ? isFine(value) : value === 0 || Number.isNaN(value);
}

function isLogprobOrNaN(value: number): boolean {
  return Number.isNaN(value) || (value <= LOGPROB_TOLERANCE && value !== -Infinity);
}

function isEntropyOrNaN(value: number): boolean {
  return Number.isNaN(value) || (value >= -LOGPROB_TOLERANCE && value !== Infinity);
}
