import type { Changes } from './changes.js';
import { LIST_COLUMNS, REAL_COLUMNS } from './token-columns.js';
import { cutText, utf8Bytes } from './cut-text.js';

/** Most that a record may take. */
export interface SizeLimits {
  /** As JSON in a request. */
  readonly jsonBytes: number;
  /** As an event of the log. */
  readonly eventBytes: number;
}

const KIBIBYTE = 1024;
const MEBIBYTE = KIBIBYTE ** 2;
/** Room for the envelope of a record, as an event or in a request. */
const MARGIN_BYTES = 64 * KIBIBYTE;

/** The server takes bodies of 16 MiB with records, and writes events of 8 MiB. */
export const RECORD_LIMITS: SizeLimits = {
  jsonBytes: 16 * MEBIBYTE - MARGIN_BYTES,
  eventBytes: 8 * MEBIBYTE - MARGIN_BYTES,
};
/** The server takes bodies of 1 MiB at its other routes. */
export const REQUEST_LIMITS: SizeLimits = {
  jsonBytes: MEBIBYTE - MARGIN_BYTES,
  eventBytes: MEBIBYTE - MARGIN_BYTES,
};

const LONGEST_TEXT_BYTES = 4 * MEBIBYTE;
const SHORTEST_CUT_BYTES = KIBIBYTE;
/** An event has at most so many bytes for each byte of JSON: a token `0,` is stored with its mask, logprob and version. */
const MAX_GROWTH = 4;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Makes a record small enough. Where its numbers and the beginnings of its texts are too much, the largest fields are left out; then its
 * texts are cut to 4 MiB, or half of that and so on.
 *
 * @param kept fields that are never left out
 * @param without the value that a field has when it is left out; undefined = none
 */
export function fitSize(
  record: Fields,
  limits: SizeLimits,
  changes: Changes,
  { kept, without }: { readonly kept: ReadonlySet<string>; readonly without: Fields },
): Fields {
  if (fits(record, limits)) return record;
  let rest = record;
  for (let least = cutFields(rest, SHORTEST_CUT_BYTES); !fits(least, limits);) {
    const names = Object.keys(least).filter((name) => !kept.has(name) && least[name] !== without[name]);
    if (names.length === 0) return least;
    const sizes = names.map((name) => mostBytes(least[name]));
    const largest = names[sizes.indexOf(Math.max(...sizes))];
    const tokens = least.tokens as Fields;
    // They go before all tokens do.
    const column = largest === 'tokens' ? LIST_COLUMNS.find((name) => tokens[name] !== undefined) : undefined;
    changes.note(column ? `tokens.${column}` : largest, 'it was left out, as it is too large');
    const smaller = column ? replaced(tokens, column, undefined) : without[largest];
    rest = replaced(rest, largest, smaller);
    least = replaced(least, largest, smaller);
  }
  if (fits(rest, limits)) return rest;
  let maxBytes = LONGEST_TEXT_BYTES;
  const sizes = textSizes(rest);
  const fixedBytes = recordBytes(rest) - sum(sizes);
  while (fixedBytes + sum(sizes.map((size) => Math.min(size, maxBytes))) > limits.eventBytes) maxBytes /= 2;
  let cut = cutFields(rest, maxBytes);
  while (!fits(cut, limits)) cut = cutFields(rest, (maxBytes /= 2));
  for (const name of Object.keys(rest)) if (cut[name] !== rest[name]) changes.note(name, 'it was cut');
  return cut;
}

function replaced(record: Fields, name: string, value: unknown): Fields {
  const { [name]: _, ...others } = record;
  return value === undefined ? others : { ...others, [name]: value };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Bytes of each text in a value. */
function textSizes(value: unknown): number[] {
  if (typeof value === 'string') return [utf8Bytes(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textSizes);
}

function fits(record: Fields, limits: SizeLimits): boolean {
  if (mostBytes(record) <= Math.min(limits.jsonBytes, limits.eventBytes)) return true;
  const jsonBytes = utf8Bytes(JSON.stringify(record));
  if (jsonBytes > limits.jsonBytes) return false;
  return jsonBytes * MAX_GROWTH <= limits.eventBytes || recordBytes(record) <= limits.eventBytes;
}

/** More bytes than a value can take, as JSON or in an event, found without looking into its texts: an escaped character takes six. */
function mostBytes(value: unknown): number {
  if (typeof value === 'string') return 6 * value.length + 5;
  if (typeof value !== 'object' || value === null) return 25;
  let numBytes = 5;
  if (Array.isArray(value)) for (const item of value as readonly unknown[]) numBytes += mostBytes(item);
  else for (const [name, item] of Object.entries(value)) numBytes += 6 * name.length + 5 + mostBytes(item);
  return numBytes;
}

/** Most bytes of a record as an event. */
function recordBytes({ tokens, ...fields }: Fields): number {
  return valueBytes(fields) + tokenBytes((tokens ?? {}) as Fields);
}

/** Token columns are packed. Those that a record lacks are stored too, as unknown. */
function tokenBytes(tokens: Fields): number {
  const numTokens = Array.isArray(tokens.ids) ? tokens.ids.length : 0;
  const optional = REAL_COLUMNS.filter((name) => name !== 'logprobs' && tokens[name] !== undefined);
  const numColumns = 3 + optional.length;
  const lists = LIST_COLUMNS.map((name) => integerBytes(tokens[name]));
  return numTokens * (4 * numColumns + 1) + sum(lists);
}

/** All integers of a list take as many bytes as the largest. */
function integerBytes(list: unknown): number {
  if (!Array.isArray(list)) return 0;
  let largest = 0;
  for (const value of list as readonly number[]) largest = Math.max(largest, value);
  return list.length * (largest < 2 ** 8 ? 1 : largest < 2 ** 16 ? 2 : 4);
}

/** Most bytes of a value in MessagePack. */
function valueBytes(value: unknown): number {
  if (typeof value === 'string') return utf8Bytes(value) + 5;
  if (typeof value !== 'object' || value === null) return 9;
  let numBytes = 5;
  if (Array.isArray(value)) for (const item of value as readonly unknown[]) numBytes += valueBytes(item);
  else for (const [name, item] of Object.entries(value)) numBytes += utf8Bytes(name) + 5 + valueBytes(item);
  return numBytes;
}

/** The same with each text, and each name, of at most so many bytes. */
function cutFields(record: Fields, maxBytes: number): Fields {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, cutTexts(value, maxBytes)]));
}

function cutTexts(value: unknown, maxBytes: number): unknown {
  if (typeof value === 'string') return value.length * 3 <= maxBytes ? value : cutText(value, maxBytes);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list = value as readonly unknown[];
    const cut = list.map((item) => cutTexts(item, maxBytes));
    return cut.every((item, i) => item === list[i]) ? list : cut;
  }
  const entries = Object.entries(value) as [string, unknown][];
  const cut = entries.map(
    ([name, item]) => [cutTexts(name, maxBytes) as string, cutTexts(item, maxBytes)] as const,
  );
  return cut.every(([name, item], i) => name === entries[i][0] && item === entries[i][1])
    ? value
    : Object.fromEntries(cut);
}
