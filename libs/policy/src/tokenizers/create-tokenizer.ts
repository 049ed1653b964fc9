import { byteLevelTokenizer } from './byte-tokenizer.js';
import type { Tokenizer } from './tokenizer.js';
import { buildWordTokenizer } from './word-tokenizer.js';

/** Makes the tokenizer of a model that is trained from scratch: `word` for the given words, or `byte` for any text. */
export function createTokenizer(kind: 'word' | 'byte', words: readonly string[]): Tokenizer {
  return kind === 'word' ? buildWordTokenizer(words) : byteLevelTokenizer();
}
