import { describe, expect, it } from 'vitest';
import { cityHash128 } from './city-hash-128.js';

/**
 * By `CH128` of github.com/go-faster/city 1.0.1, which ClickHouse's own Go client uses, over {@link bytesOf}: every way that the
 * length can end, and the chunks of 16, 32 and 128 bytes.
 */
const VECTORS: readonly (readonly [length: number, hash: string])[] = [
  [0, '2b9ac064fc9df03d291ee592c340b53c'],
  [1, '35cb458e18a1b57b3bf5e8762a3f1bbe'],
  [3, '97dbaa4b23873359d76f4da14aa02cab'],
  [4, '409d628d699652201cc3295de318c7c2'],
  [7, '4c63a06ca64b18b8a9dba28e6dfa96cb'],
  [8, '35ae07e23589d0560464a5e6f6556a39'],
  [12, '7612af5fa8a6527225d039993134d56b'],
  [15, '4ca75bbb48fd3f258febd8c8103df2ae'],
  [16, 'bfae257a6638548d79bae02d6e787d93'],
  [17, '51235b76d274fc40a07d35002977b55c'],
  [24, '204a192efd3a4a5d45e70adcf4f35860'],
  [31, 'c3b47507b0f3897db290089db28dec5b'],
  [32, '70929bd4f66947731d61107ea8611688'],
  [33, '20cc5e1b3d60a4785c63d322e03ae7a3'],
  [64, '82370a6a0cb3c33a52aa264c8070ebb3'],
  [100, 'fc54039fc865dd45bd873cf0359ddd79'],
  [127, 'd52392c1b1b3578b49f0cbed3c55480a'],
  [128, '7da0f3976e184cf851ea0beac5020800'],
  [143, '71aec16a5ca409dd6b91fcf7c7447ca3'],
  [144, 'a8d1fad616aa5a21f10f4dac7275ced4'],
  [160, 'f7a95f2f89e27883d60eddba028fbc55'],
  [175, 'a1dccfc836459f4aa5d33232aca32e3d'],
  [176, 'f73b0ef00cec8d2dffc312c47a80b556'],
  [207, '5feb7a7386192bdf91e62bb7f644fc43'],
  [240, 'af7659ea01e61868641f11393df8bff4'],
  [255, '0d542c8af13b9dee00b914f4a2526925'],
  [256, '531f95ff6f4d6e393e843bf2799f3a14'],
  [271, '0b625f043f0df61981fc33519fd41377'],
  [272, '4691a6807d1753ed7332b71a29bb0106'],
  [273, 'df0d379475021d7e02a441cb21a5fcdf'],
  [1000, '8d5fdca12058a718a5277c14dd8639b0'],
  [4096, '1d4016879848e3d876fa64c294fe9058'],
  [100003, 'c969ee4b64e41004591a36b298e6a6cc'],
];

/** The upper bytes of a linear congruential generator that starts at the length + 1. */
function bytesOf(length: number): Buffer {
  let state = length + 1;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}

describe('cityHash128', () => {
  it.each(VECTORS)('of %i bytes is what ClickHouse’s Go client makes of them', (length, hash) => {
    expect(cityHash128(bytesOf(length)).toString('hex')).toBe(hash);
  });

  it('hashes only its part of a larger buffer', () => {
    const bytes = bytesOf(1000);
    const within = Buffer.concat([Buffer.from('abc'), bytes, Buffer.from('d')]).subarray(3, 1003);
    expect(cityHash128(within)).toEqual(cityHash128(bytes));
  });
});
