import type { StepTokens } from '../wire/records.js';
import type { Changes } from './changes.js';
import { LIST_COLUMNS, REAL_COLUMNS, TOKEN_FIELDS } from './token-columns.js';

type Row = ArrayLike<unknown>;

const MAX_INT32 = 2 ** 31 - 1;
const MAX_TOKENS = 4_194_304;
/** Values are stored as float32. */
const MAX_REAL = 3.4e38;
/** The server takes logprobs and entropies that a rounding error puts on the wrong side of 0. */
const TOLERANCE = 0.0009;

/** In place of tokens that can't be stored: the context is empty after them, so no later step can go on from what is missing. */
export const NO_TOKENS: StepTokens = { ids: [], mask: [], keptPrefix: 0 };

/**
 * Tokens that the server takes: a value that is impossible becomes unknown, and so does a column of another length. Without usable ids
 * and mask there are no tokens.
 *
 * @param step number of the step
 */
export function storableTokens(value: unknown, step: unknown, changes: Changes): StepTokens {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;
  const { ids, mask, keptPrefix = null, versions = null } = given;
  if (
    !isRow(ids, 0, MAX_INT32) ||
    !isRow(mask, 0, 1) ||
    mask.length !== ids.length ||
    ids.length > MAX_TOKENS ||
    !isAscending(mask) ||
    (keptPrefix !== null && !isInteger(keptPrefix, 0, step === 0 ? 0 : Number.MAX_SAFE_INTEGER))
  ) {
    changes.note('tokens', 'they were left out, as they are impossible');
    return NO_TOKENS;
  }
  const tokens: Record<string, unknown> = {
    ids: asList(ids),
    mask: asList(mask),
    ...(keptPrefix !== null && { keptPrefix }),
  };
  for (const name of REAL_COLUMNS) {
    const column = storableColumn(given[name] ?? null, mask, name, changes);
    if (column !== null) tokens[name] = column;
  }
  if (versions !== null) {
    if (isRow(versions, -1, MAX_INT32) && versions.length === ids.length) tokens.versions = asList(versions);
    else changes.note('tokens.versions', 'they were left out, as they are impossible');
  }
  for (const name of LIST_COLUMNS) {
    const lists = given[name] ?? null;
    if (lists === null || isEmpty(lists)) continue;
    if (isRow(lists, 0, MAX_INT32) && isMultiple(lists.length, ids.length)) tokens[name] = asList(lists);
    else changes.note(`tokens.${name}`, 'they were left out, as they are impossible');
  }
  for (const name of Object.keys(given))
    if (!TOKEN_FIELDS.includes(name)) changes.note('tokens', 'an unknown field was left out');
  return tokens as unknown as StepTokens;
}

/** A column of values of sampled tokens; the others have none. */
function storableColumn(
  column: unknown,
  mask: Row,
  name: string,
  changes: Changes,
): readonly (number | null)[] | null {
  if (column === null) return null;
  if (!isLike(column) || column.length !== mask.length) {
    changes.note(`tokens.${name}`, 'they were left out, as they are impossible');
    return null;
  }
  const [low, high] = name === 'entropies' ? [-TOLERANCE, MAX_REAL] : [-MAX_REAL, TOLERANCE];
  const isFine = (value: unknown, at: number) =>
    value === null ||
    (typeof value === 'number' && (mask[at] === 1 ? value >= low && value <= high : value === 0));
  const list = asList(column) as (number | null)[];
  if (list.every(isFine)) return list;
  changes.note(`tokens.${name}[]`, 'an impossible value was left out');
  return list.map((value, at) => (isFine(value, at) ? value : null));
}

function isAscending(mask: Row): boolean {
  for (let t = 1; t < mask.length; t++) if ((mask[t] as number) < (mask[t - 1] as number)) return false;
  return true;
}

function isEmpty(value: unknown): boolean {
  return isLike(value) && value.length === 0;
}

/** Whether a list can have as many elements for each token. */
function isMultiple(length: number, numTokens: number): boolean {
  return numTokens > 0 && length <= MAX_TOKENS && length % numTokens === 0;
}

function isRow(value: unknown, low: number, high: number): value is Row {
  return isLike(value) && asList(value).every((item) => isInteger(item, low, high));
}

/** Lists and typed arrays. */
function isLike(value: unknown): value is Row {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

function asList(row: Row): readonly unknown[] {
  return Array.isArray(row) ? (row as readonly unknown[]) : Array.from(row);
}

function isInteger(value: unknown, low: number, high: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high;
}
