import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyWriter } from './body-writer.js';
import { unframe } from '../frame.js';
import { messagePack } from './messagepack.js';
import { packColumn } from './packed-column.js';

const writer = new BodyWriter();

function written(write: (body: BodyWriter) => void): Buffer {
  write(writer);
  const unframed = unframe(writer.takeRecord());
  if (!unframed.ok) throw new Error(unframed.reason);
  return unframed.body;
}

function expectAsMessagePack(value: unknown): void {
  const body = written((to) => {
    to.value(value);
  });
  expect(body.equals(messagePack.pack(value)), JSON.stringify(value)?.slice(0, 200)).toBe(true);
}

describe('the body writer', () => {
  it('writes any JSON value as msgpackr does, byte by byte', () => {
    const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 });
    fc.assert(fc.property(json, expectAsMessagePack), { numRuns: 2_000 });
  });

  it.each([0, 1, 31, 32, 33, 85, 86, 127, 128, 255, 256, 21_845, 21_846, 65_535, 65_536, 70_000])(
    'writes texts of %i characters as msgpackr does, whatever their bytes',
    (length) => {
      for (const character of ['a', 'é', '水']) {
        expectAsMessagePack(character.repeat(length));
        if (length > 0) expectAsMessagePack('a'.repeat(length - 1) + character);
      }
      expectAsMessagePack('😀'.repeat(length));
    },
  );

  it.each([7, 8, 15, 16, 31, 32])('writes numbers around ±2 to the power of %i as msgpackr does', (bits) => {
    for (const value of [2 ** bits - 1, 2 ** bits, 2 ** bits + 1]) {
      expectAsMessagePack(value);
      expectAsMessagePack(-value);
    }
  });

  it.each([-0, -32, -33, 1.5, -1e300, 5e-324, 2 ** 53 - 1, -(2 ** 53 - 1)])(
    'writes %d as msgpackr does',
    expectAsMessagePack,
  );

  it.each([15, 16, 65_535, 65_536])('writes lists and maps of %i elements as msgpackr does', (length) => {
    const list = Array.from({ length }, (_, i) => i % 3);
    expectAsMessagePack(list);
    expectAsMessagePack(Object.fromEntries(list.map((value, i) => [`key ${i}`, value])));
  });

  it('leaves values that are not plain to msgpackr', () => {
    expectAsMessagePack([new Date(0), Buffer.from('bytes'), Object.create(null)]);
  });

  it.each([3, 255, 256, 65_536])('writes a column of %i elements as binary', (length) => {
    const column = Float32Array.from({ length }, (_, i) => i);
    const body = written((to) => {
      to.column(column);
    });
    expect(body.equals(messagePack.pack(packColumn(column)))).toBe(true);
  });

  it('writes a UUID as its 16 bytes, and none as no bytes', () => {
    const uuid = '01234567-89ab-7cde-8f01-23456789abcd';
    const body = written((to) => {
      to.uuid(uuid);
      to.uuid('');
    });
    expect(body.toString('hex')).toBe(`c410${uuid.replaceAll('-', '')}c400`);
  });

  it('returns records that share no memory, without bytes of an event that was given up', () => {
    writer.value('kept');
    const first = writer.takeRecord();
    const copy = Buffer.from(first);
    writer.value('given up');
    writer.reset();
    writer.value('b'.repeat(3_000_000));
    writer.takeRecord();
    expect(first.equals(copy)).toBe(true);
    expectAsMessagePack('small again');
  });
});
