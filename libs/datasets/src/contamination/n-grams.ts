import { isJsonObject, type Json } from '@retrace/trajectory';
import type { DatasetRow } from '../formats/dataset-format.js';

/** Fields of a row that hold what was said; the others are ids and settings. */
const TEXT_FIELDS = ['messages', 'prompt', 'completion', 'chosen', 'rejected', 'conversations', 'steps'];
/** Fields of a message that hold its text. */
const MESSAGE_TEXTS = ['content', 'value', 'message', 'reasoning_content'];

/** The words of a row, in lower case: runs of letters and digits. */
export function splitWords(row: DatasetRow): string[] {
  const texts = TEXT_FIELDS.flatMap((field) => textsIn(row[field] ?? null));
  return (
    texts
      .join('\n')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function textsIn(value: Json): string[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).flatMap((entry) =>
    isJsonObject(entry)
      ? MESSAGE_TEXTS.map((field) => entry[field]).filter((text) => typeof text === 'string')
      : [],
  );
}

/** Two multipliers of Fowler, Noll and Vo's kind; together they give 53 bits. */
const FIRST_PRIME = 0x01000193;
const SECOND_PRIME = 0x85ebca6b;

/**
 * Hashes each distinct stretch of `n` words to 53 bits. Fewer than `n` words are one stretch; no words none.
 */
export function nGrams(words: readonly string[], n: number): Set<number> {
  const hashes = words.map(hashWord);
  const grams = new Set<number>();
  for (let from = 0; from === 0 || from + n <= hashes.length; from += 1) {
    if (hashes.length === 0) break;
    let high = 0x811c9dc5;
    let low = 0x9747b28c;
    for (let w = from; w < Math.min(from + n, hashes.length); w += 1) {
      high = Math.imul(high ^ hashes[w], FIRST_PRIME);
      low = Math.imul((low << 5) ^ (low >>> 27) ^ hashes[w], SECOND_PRIME);
    }
    grams.add((high >>> 0) * 2 ** 21 + (low >>> 11));
  }
  return grams;
}

function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let c = 0; c < word.length; c += 1) hash = Math.imul(hash ^ word.charCodeAt(c), FIRST_PRIME);
  return hash ^ (hash >>> 15);
}
