import { Buffer } from 'node:buffer';
import { deflateSync, inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { joinPngs } from './animated-png.mjs';

/** CRC of PNG, bit by bit, as its specification has it. */
function crcOf(/** @type {Buffer} */ bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function chunk(/** @type {string} */ type, /** @type {Buffer} */ data) {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crcOf(Buffer.concat([Buffer.from(type), data])));
  return Buffer.concat([length, Buffer.from(type), data, crc]);
}

/** A gray picture of one row. */
function pngOf(/** @type {readonly number[]} */ row) {
  const header = Buffer.from([0, 0, 0, row.length, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from([0, ...row]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

describe('an animated PNG', () => {
  const joined = joinPngs([
    { png: pngOf([10, 20]), milliseconds: 700 },
    { png: pngOf([30, 40]), milliseconds: 1_500 },
  ]);
  /** @type {{ type: string, data: Buffer, crc: number }[]} */
  const chunks = [];
  for (let at = 8; at < joined.length;) {
    const end = at + 8 + joined.readUInt32BE(at);
    chunks.push({
      type: joined.toString('latin1', at + 4, at + 8),
      data: joined.subarray(at + 8, end),
      crc: joined.readUInt32BE(end),
    });
    at = end + 4;
  }

  it('has the chunks of its specification in order, with their checksums', () => {
    expect(chunks.map(({ type }) => type)).toEqual(['IHDR', 'acTL', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'IEND']);
    for (const { type, data, crc } of chunks)
      expect(crc).toBe(crcOf(Buffer.concat([Buffer.from(type), data])));
  });

  it('shows each frame as long as it was told, numbered with its data', () => {
    const controls = chunks.filter(({ type }) => type === 'fcTL').map(({ data }) => data);
    expect(controls.map((data) => data.readUInt16BE(20) / data.readUInt16BE(22))).toEqual([0.7, 1.5]);
    expect(controls.map((data) => data.readUInt32BE(0))).toEqual([0, 1]);
    expect(chunks[1].data.readUInt32BE(0)).toBe(2);
    const data = chunks[5].data;
    expect(data.readUInt32BE(0)).toBe(2);
    expect([...inflateSync(data.subarray(4))]).toEqual([0, 30, 40]);
    expect([...inflateSync(chunks[3].data)]).toEqual([0, 10, 20]);
  });

  it('refuses frames of other sizes', () => {
    const frames = [pngOf([1]), pngOf([1, 2])].map((png) => ({ png, milliseconds: 1 }));
    expect(() => joinPngs(frames)).toThrow(/frame 1: its size/);
  });
});
