import { createTokenizer } from '@retrace/policy';
import { describe, expect, it } from 'vitest';
import { TextStream } from './text-stream.js';

const tokenizer = createTokenizer('byte', []);

/** The texts that come with each token. */
function pieces(
  text: string,
  options: { stops?: string[]; includesStop?: boolean; ended?: 'stop' | 'stopString' } = {},
) {
  const { stops = [], includesStop = false, ended } = options;
  const stream = new TextStream(tokenizer, { stopStrings: stops, includesStop, skipsSpecialTokens: true });
  const tokenIds = tokenizer.encode(text);
  return {
    stream,
    texts: Array.from(tokenIds, (id, n) =>
      stream.push(Int32Array.of(id), n < tokenIds.length - 1 ? null : (ended ?? 'length')),
    ),
  };
}

describe('TextStream', () => {
  it('waits for the bytes of a character', () => {
    expect(pieces('aé😀').texts).toEqual(['a', '', 'é', '', '', '', '😀']);
  });

  it('puts the same space between words as a text decoded at once, also after special tokens', () => {
    const words = createTokenizer('word', ['alpha', 'beta']);
    const stream = new TextStream(words, { stopStrings: [], includesStop: false, skipsSpecialTokens: true });
    const tokenIds = [2, words.padTokenId, words.padTokenId, 3, 2];
    const text = tokenIds.map((id) => stream.push(Int32Array.of(id), null)).join('');
    expect(text).toBe(words.decode(tokenIds, { skipSpecialTokens: true }));
  });

  it('gives all bytes at the end, even where they are no character', () => {
    const stream = new TextStream(tokenizer, {
      stopStrings: [],
      includesStop: false,
      skipsSpecialTokens: true,
    });
    expect(stream.push(Int32Array.of(97, 0xf0), null)).toBe('');
    expect(stream.push(Int32Array.of(0x9f), 'length')).toBe('a\uFFFD');
  });

  it('holds back what may become a stop string, and leaves the stop string out', () => {
    const { texts, stream } = pieces('ab\nc\n\nUser', { stops: ['\n\nUser'], ended: 'stopString' });
    expect(texts).toEqual(['a', 'b', '', '\nc', '', '', '', '', '', '']);
    expect(stream.matchedStop).toBe('\n\nUser');
    expect(pieces('abXY', { stops: ['XY'], includesStop: true, ended: 'stopString' }).texts.join('')).toBe(
      'abXY',
    );
  });

  it('leaves the token out that ended the answer', () => {
    expect(pieces('ab.', { ended: 'stop' }).texts.join('')).toBe('ab');
    expect(pieces('ab.', { ended: 'stop', includesStop: true }).texts.join('')).toBe('ab.');
  });
});
