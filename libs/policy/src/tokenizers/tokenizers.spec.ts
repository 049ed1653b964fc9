import { Tokenizer as HuggingFaceTokenizerModel } from '@huggingface/tokenizers';
import { describe, expect, it } from 'vitest';
import { byteLevelTokenizer } from './byte-tokenizer.js';
import { loadTokenizer } from './load-tokenizer.js';
import { buildWordTokenizer } from './word-tokenizer.js';

const words = ['map', ':', 'S', 'F', 'H', 'G', 'left', 'right', '42'];

describe.each([
  ['word', buildWordTokenizer(words), ['map : S F F H G <end>', '  left\n right\t42 ', '', '<pad> <end>']],
  ['byte', byteLevelTokenizer(), ['You see é,\n  go <end> left 🙂', '', '<pad>', '<end', 'a\u0000b']],
] as const)('the %s tokenizer', (_, tokenizer, texts) => {
  it('encodes and decodes as @huggingface/tokenizers does with its file', () => {
    const reference = new HuggingFaceTokenizerModel(tokenizer.toJSON(), {
      clean_up_tokenization_spaces: false,
    });
    for (const text of texts) {
      const { ids } = reference.encode(text, { add_special_tokens: false });
      expect([...tokenizer.encode(text)]).toEqual(ids);
      if (ids.length > 0) expect(tokenizer.decode(ids)).toBe(reference.decode(ids));
    }
  });

  it('is the same after its file was written and read', () => {
    const loaded = loadTokenizer(JSON.parse(JSON.stringify(tokenizer)));
    expect(loaded.constructor).toBe(tokenizer.constructor);
    expect(loaded.hash).toBe(tokenizer.hash);
    expect(loaded).toMatchObject({
      vocabSize: tokenizer.vocabSize,
      padTokenId: tokenizer.padTokenId,
      endOfTurnTokenId: tokenizer.endOfTurnTokenId,
    });
    for (const text of texts) expect(loaded.encode(text)).toEqual(tokenizer.encode(text));
  });

  it('leaves special tokens out of the text if asked to', () => {
    const ids = [tokenizer.padTokenId, ...tokenizer.encode('left'), tokenizer.endOfTurnTokenId];
    expect(tokenizer.decode(ids, { skipSpecialTokens: true })).toBe('left');
    expect(tokenizer.decode(ids)).toContain('<end>');
  });

  it('refuses ids outside its vocabulary', () => {
    for (const id of [-1, tokenizer.vocabSize, 0.5]) {
      expect(() => tokenizer.decode([id])).toThrow(
        expect.objectContaining({ code: 'INVALID_TOKEN' }) as Error,
      );
    }
  });
});

describe('buildWordTokenizer', () => {
  it('numbers pad, end of turn and the words in order', () => {
    expect([...buildWordTokenizer(words).encode('<pad> <end> map 42')]).toEqual([0, 1, 2, 10]);
  });

  it('refuses a text with a word it does not have', () => {
    expect(() => buildWordTokenizer(words).encode('map north')).toThrow(
      /word "north" is not in the vocabulary of 11/,
    );
  });

  it.each([
    [['a', 'a'], /"a" occurs twice/],
    [['a b'], /"a b" is empty or has white space/],
    [[''], /"" is empty/],
    [['<end>'], /"<end>" occurs twice/],
  ])('refuses %j', (bad, message) => {
    expect(() => buildWordTokenizer(bad)).toThrow(message);
  });

  it('has another hash for another order of words', () => {
    expect(buildWordTokenizer(['a', 'b']).hash).not.toBe(buildWordTokenizer(['b', 'a']).hash);
  });
});

describe('byteLevelTokenizer', () => {
  it('gives every text its bytes and back', () => {
    const text = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)).join('');
    const tokenizer = byteLevelTokenizer();
    expect([...tokenizer.encode(text)]).toEqual([...Buffer.from(text, 'utf8')]);
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  });
});

describe('loadTokenizer', () => {
  const bpe = {
    version: '1.0',
    added_tokens: [
      {
        id: 4,
        content: '<|im_end|>',
        special: true,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
      },
    ],
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: 'BPE',
      unk_token: null,
      vocab: { a: 0, b: 1, ab: 2, aba: 3 },
      merges: [
        ['a', 'b'],
        ['ab', 'a'],
      ],
    },
  };

  it('reads other tokenizers through the Hugging Face library', () => {
    const tokenizer = loadTokenizer(bpe, { padToken: '<|im_end|>', endOfTurnToken: '<|im_end|>' });
    // ab·ab·a by the first merge, then ab·aba by the second.
    expect([...tokenizer.encode('ababa<|im_end|>')]).toEqual([2, 3, 4]);
    expect(tokenizer.decode([2, 3, 4])).toBe('ababa<|im_end|>');
    expect(tokenizer).toMatchObject({ vocabSize: 5, padTokenId: 4, endOfTurnTokenId: 4 });
  });

  it('refuses a file without its special tokens, and one that is not a tokenizer', () => {
    expect(() => loadTokenizer(bpe)).toThrow(/has no token "<pad>"/);
    for (const json of [null, {}, { model: { type: 'BPE' } }]) {
      expect(() => loadTokenizer(json)).toThrow(/lacks model.type, model.vocab or added_tokens/);
    }
  });
});
