import { describe, expect, it } from 'vitest';
import { readVocabulary } from './vocabulary.js';

describe('readVocabulary', () => {
  it('gives words by their ids, added tokens included', () => {
    const tokenizer = {
      model: { type: 'WordLevel', vocab: { left: 2, right: 3 } },
      added_tokens: [{ id: 0, content: '<pad>' }],
    };
    expect(readVocabulary(tokenizer)).toEqual(['<pad>', undefined, 'left', 'right']);
  });

  it('turns the byte alphabet back into text', () => {
    // Ġ (U+0120) stands for a space, Ċ (U+010A) for a line feed; Ã and © are the bytes C3 A9 of é.
    const tokenizer = { model: { vocab: { Ġthe: 0, Ċ: 1, 'Ã©': 2 } }, decoder: { type: 'ByteLevel' } };
    expect(readVocabulary(tokenizer)).toEqual([' the', '\n', 'é']);
  });

  it('shows the replacement character for a part of a character', () => {
    const tokenizer = {
      model: { vocab: { Ã: 0 } },
      decoder: { type: 'Sequence', decoders: [{ type: 'ByteLevel' }] },
    };
    expect(readVocabulary(tokenizer)).toEqual(['\uFFFD']);
  });

  it('refuses JSON that is no tokenizer', () => {
    expect(() => readVocabulary({})).toThrow(/model\.vocab/);
  });
});
