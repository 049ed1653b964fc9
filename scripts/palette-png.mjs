import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { chunk, SIGNATURE } from './animated-png.mjs';

const MAX_COLORS = 256;
/** The commonest colors are kept though they are close to another: the surfaces of a page nearly are white. */
const NUM_KEPT = 96;
/** Largest difference of a channel at which two colors count as one, at first; more where the colors are too many. */
const FIRST_TOLERANCE = 4;

/**
 * Gives pictures one palette, which makes screenshots less than half as large: the commonest colors stay as they are, and others take the nearest one of the palette.
 *
 * @param {readonly Buffer[]} pngs of equal size, without transparency
 * @returns {Buffer[]} each with the same palette of at most 256 colors
 */
export function shareOnePalette(pngs) {
  const pictures = pngs.map((png) => PNG.sync.read(png));
  const palette = choosePalette(countColors(pictures));
  /** @type {Map<number, number>} */
  const places = new Map();
  const placeOf = (/** @type {number} */ color) => {
    const place = places.get(color) ?? findNearest(palette, color);
    places.set(color, place);
    return place;
  };
  const plte = Buffer.alloc(3 * palette.length);
  palette.forEach((color, i) => plte.writeUIntBE(color, 3 * i, 3));
  return pictures.map(({ width, height, data }) => {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    // 8 bits a pixel, each a place in the palette.
    header.set([8, 3], 8);
    const rows = Buffer.alloc((width + 1) * height);
    for (let pixel = 0; pixel < width * height; pixel++) {
      // Each row begins with its filter, which is none.
      const at = pixel + Math.floor(pixel / width) + 1;
      rows[at] = placeOf(data.readUIntBE(4 * pixel, 3));
    }
    return Buffer.concat([
      SIGNATURE,
      chunk('IHDR', header),
      chunk('PLTE', plte),
      chunk('IDAT', deflateSync(rows, { level: 9 })),
      chunk('IEND', Buffer.alloc(0)),
    ]);
  });
}

/** Counts the pixels of each color. @param {readonly PNG[]} pictures @returns {Map<number, number>} */
function countColors(pictures) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const { data } of pictures) {
    for (let at = 0; at < data.length; at += 4) {
      const color = data.readUIntBE(at, 3);
      counts.set(color, (counts.get(color) ?? 0) + 1);
    }
  }
  return counts;
}

/** Chooses the commonest colors, and of the others those that are not close to one that is chosen, so that each color has one nearby. @param {Map<number, number>} counts */
function choosePalette(counts) {
  const colors = [...counts].sort((a, b) => b[1] - a[1]).map(([color]) => color);
  if (colors.length <= MAX_COLORS) return colors;
  for (let tolerance = FIRST_TOLERANCE; ; tolerance++) {
    /** @type {number[]} */
    const palette = colors.slice(0, NUM_KEPT);
    for (const color of colors.slice(NUM_KEPT)) {
      if (palette.length > MAX_COLORS) break;
      if (palette.every((one) => differenceOf(one, color) > tolerance)) palette.push(color);
    }
    if (palette.length <= MAX_COLORS) return palette;
  }
}

/** @param {readonly number[]} palette @param {number} color @returns {number} its place in the palette */
function findNearest(palette, color) {
  const differences = palette.map((one) => differenceOf(one, color));
  return differences.indexOf(Math.min(...differences));
}

/** The largest difference of a channel of two colors, from 0 to 255. @param {number} a @param {number} b */
function differenceOf(a, b) {
  const channels = [16, 8, 0].map((shift) => Math.abs(((a >> shift) & 255) - ((b >> shift) & 255)));
  return Math.max(...channels);
}
