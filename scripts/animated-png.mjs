import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

export const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

/**
 * Joins pictures to one that is animated and repeats for ever (APNG, which every browser shows).
 *
 * @param {readonly { readonly png: Buffer, readonly milliseconds: number }[]} frames at least one, of equal size and form, as one program wrote them; each is shown that
 *   long, at most 65,535 ms
 * @returns {Buffer} a PNG, of which a program without animations shows the first frame
 * @throws {Error} where sizes, forms or palettes differ
 */
export function joinPngs(frames) {
  const [header] = frames.map(({ png }) => chunkOf(png, 'IHDR'));
  const [palette] = frames.map(({ png }) => paletteOf(png));
  let sequence = 0;
  const parts = frames.flatMap(({ png, milliseconds }, i) => {
    if (!chunkOf(png, 'IHDR').equals(header))
      throw new Error(`frame ${i}: its size or form differs from that of frame 0`);
    if (!paletteOf(png).equals(palette))
      throw new Error(`frame ${i}: its palette differs from that of frame 0`);
    const control = Buffer.alloc(26);
    control.writeUInt32BE(sequence++, 0);
    // Width and height; the frame covers all, from its corner.
    header.copy(control, 4, 0, 8);
    control.writeUInt16BE(milliseconds, 20);
    control.writeUInt16BE(1000, 22);
    const data = chunksOf(png).filter(({ type }) => type === 'IDAT');
    return [
      chunk('fcTL', control),
      ...data.map((each) => (i === 0 ? chunk('IDAT', each.data) : numberedData(sequence++, each.data))),
    ];
  });
  const animation = Buffer.alloc(8);
  animation.writeUInt32BE(frames.length, 0);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('acTL', animation),
    ...(palette.length > 0 ? [chunk('PLTE', palette)] : []),
    ...parts,
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** @param {number} sequence @param {Buffer} data */
function numberedData(sequence, data) {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(sequence);
  return chunk('fdAT', Buffer.concat([number, data]));
}

/** A chunk of a PNG with its length and checksum. @param {string} type @param {Buffer} data */
export function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}

/** @param {Buffer} png @param {string} type */
function chunkOf(png, type) {
  const found = chunksOf(png).find((each) => each.type === type);
  if (found === undefined) throw new Error(`a frame has no chunk ${type}, so it is no PNG`);
  return found.data;
}

/** Empty for a picture without one. @param {Buffer} png */
function paletteOf(png) {
  return chunksOf(png).find(({ type }) => type === 'PLTE')?.data ?? Buffer.alloc(0);
}

/** @param {Buffer} png */
function chunksOf(png) {
  const chunks = [];
  for (let at = SIGNATURE.length; at + 8 <= png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return chunks;
}
