import {
  TOKEN_COLUMN_NAMES,
  TOKEN_COLUMNS,
  type StepTokenColumns,
  type TokenColumnName,
} from '../events/token-columns.js';
import type { Problem } from '../fields/problem.js';

/** A logprob is ≤ 0, but float32 log-softmax of a near-certain token may be above 0 by a rounding error. */
const LOGPROB_TOLERANCE = 1e-3;

type Column = Exclude<StepTokenColumns[TokenColumnName], null>;

/** Finds the first element that breaks the rule of a column. */
type FindElement = (
  values: Column,
  mask: Uint8Array,
) => { readonly at: number; readonly rule: string; readonly value?: number } | null;

const NUMBER_RULES: Readonly<Record<(typeof TOKEN_COLUMNS)[TokenColumnName]['holds'], FindElement>> = {
  ids: findBelow(0),
  mask: findMaskElement,
  logprobs: findLogprob,
  logprobsOrNaN: findOptional(isLogprobOrNaN, 'logprob ≤ 0'),
  entropiesOrNaN: findOptional(isEntropyOrNaN, 'entropy ≥ 0'),
  versions: findBelow(-1),
  lists: () => null,
};

/** The columns, with the rule of each: looking one up takes longer than most rules. */
const RULES = TOKEN_COLUMN_NAMES.map((name) => {
  const { holds } = TOKEN_COLUMNS[name];
  return { name, isList: holds === 'lists', findElement: NUMBER_RULES[holds] };
});

/**
 * Finds the first broken rule among the token columns of a step, or null:
 *
 * - all columns that are not null are as long as `tokenIds`, which are ≥ 0; lists have the same number of elements for each token, at least one;
 * - `actionMask` is 0 or 1, and no 0 follows a 1 (observation tokens first, then action tokens);
 * - `tokenLogprobs` are 0 where not sampled; where sampled, finite and ≤ 0, or NaN for missing;
 * - `tokenRawLogprobs` and `tokenEntropies` likewise, except that NaN is allowed anywhere (entropies are ≥ 0);
 * - `tokenPolicyVersions` are ≥ −1.
 */
export function findTokenColumnProblem(columns: StepTokenColumns): Problem | null {
  const { actionMask, tokenIds } = columns;
  for (const { name, isList } of RULES) {
    const values = columns[name];
    const problem = values && findLengthFault(values, tokenIds.length, isList);
    if (problem) return { field: `payload.${name}.length`, value: values.length, rule: problem };
  }
  for (const { name, findElement } of RULES) {
    const values = columns[name];
    const found = values && findElement(values, actionMask);
    if (found) {
      const { at, rule, value = values[at] } = found;
      return { field: `payload.${name}[${at}]`, value, rule };
    }
  }
  return null;
}

function findLengthFault({ length }: Column, numTokens: number, isList: boolean): string | null {
  if (!isList)
    return length === numTokens ? null : `must be as long as tokenIds, which has ${numTokens} tokens`;
  const isWhole = numTokens > 0 && length > 0 && length % numTokens === 0;
  return isWhole
    ? null
    : `must be a multiple of the ${numTokens} tokens of tokenIds; null where there is none`;
}

function findBelow(minimum: number): FindElement {
  return (values) => {
    for (let t = 0; t < values.length; t += 1)
      if (values[t] < minimum) return { at: t, rule: `must be ≥ ${minimum}` };
    return null;
  };
}

function findMaskElement(mask: Column): ReturnType<FindElement> {
  for (let t = 0; t < mask.length; t += 1) {
    if (mask[t] > 1) return { at: t, rule: 'must be 0 or 1' };
    if (t > 0 && mask[t] < mask[t - 1])
      return { at: t, rule: 'must be 1: action tokens come after all observation tokens' };
  }
  return null;
}

function findLogprob(values: Column, mask: Uint8Array): ReturnType<FindElement> {
  for (let t = 0; t < values.length; t += 1) {
    const value = values[t];
    if (mask[t] === 1 ? isLogprobOrNaN(value) : value === 0) continue;
    const sampled = 'must be a finite logprob ≤ 0, or NaN for missing';
    return { at: t, rule: mask[t] === 1 ? sampled : 'must be 0 where actionMask is 0' };
  }
  return null;
}

/** The rule of a column whose values may be unknown at any token. */
function findOptional(isAllowed: (value: number) => boolean, allowed: string): FindElement {
  const rule = `must be NaN, or 0 where actionMask is 0 and a finite ${allowed} where it is 1`;
  return (values, mask) => {
    for (let t = 0; t < values.length; t += 1) {
      const value = values[t];
      const isFine = mask[t] === 1 ? isAllowed(value) : value === 0 || Number.isNaN(value);
      if (!isFine) return { at: t, rule };
    }
    return null;
  };
}

function isLogprobOrNaN(value: number): boolean {
  return Number.isNaN(value) || (value <= LOGPROB_TOLERANCE && value !== -Infinity);
}

function isEntropyOrNaN(value: number): boolean {
  return Number.isNaN(value) || (value >= -LOGPROB_TOLERANCE && value !== Infinity);
}
