import { byteLevelTokenizer } from './byte-tokenizer.js';
import type { Tokenizer } from './tokenizer.js';
import { buildWordTokenizer } from './word-tokenizer.js';

/** The tokenizer of a model that starts from nothing: `word` over the given words, or `byte` over any text. */
export function createTokenizer(kind: 'word' | 'byte', words: readonly string[]): Tokenizer {
  return kind === 'word' ? buildWordTokenizer(words) : byteLevelTokenizer();
}
