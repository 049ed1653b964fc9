import { describe, expect, it } from 'vitest';
import { crc32c } from './crc32c.js';
import { countFrames, frameRecord } from './record-frames.js';

describe('crc32c', () => {
  // https://www.rfc-editor.org/rfc/rfc3720#appendix-B.4, and the check value of "123456789".
  it.each([
    [Buffer.alloc(32), 0x8a9136aa],
    [Buffer.alloc(32, 0xff), 0x62a8ab43],
    [Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
    [Buffer.from('123456789'), 0xe3069283],
    [Buffer.alloc(0), 0],
  ])('gives the published value %#', (bytes, expected) => {
    expect(crc32c(bytes)).toBe(expected);
  });
});

describe('countFrames', () => {
  const file = Buffer.concat(['one', '', 'three'].map((text) => frameRecord(Buffer.from(text))));

  it('counts intact frames, up to the first that is cut or damaged', () => {
    expect(countFrames(file)).toEqual({ numFrames: 3, numBytes: 19 + 16 + 21 });
    expect(countFrames(file.subarray(0, 55))).toEqual({ numFrames: 2, numBytes: 35 });
    const damaged = Buffer.from(file);
    damaged[13] ^= 1;
    expect(countFrames(damaged)).toEqual({ numFrames: 0, numBytes: 0 });
  });
});
