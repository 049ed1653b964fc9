import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { joinPngs } from './animated-png.mjs';
import { shareOnePalette } from './palette-png.mjs';

const WIDTH = 40;

/** A picture of one color in each pixel. */
function pngOf(/** @type {(pixel: number) => readonly number[]} */ colorOf) {
  const png = new PNG({ width: WIDTH, height: WIDTH });
  for (let pixel = 0; pixel < WIDTH * WIDTH; pixel++) png.data.set([...colorOf(pixel), 255], 4 * pixel);
  return PNG.sync.write(png);
}

const pixelsOf = (/** @type {Buffer} */ png) => [...PNG.sync.read(png).data];

describe('pictures with one palette', () => {
  it('keep every color where there are at most 256', () => {
    const pictures = [pngOf((pixel) => [pixel % 128, 7, 9]), pngOf((pixel) => [200, pixel % 128, 3])];
    const shared = shareOnePalette(pictures);
    expect(shared.map(pixelsOf)).toEqual(pictures.map(pixelsOf));
  });

  it('keep the commonest colors, and others nearly, where there are more', () => {
    // 500 pixels are white, 500 are nearly white, and 600 have a color each.
    const picture = pngOf((pixel) =>
      pixel < 1_000 ? [255, 255, pixel < 500 ? 255 : 252] : [pixel % 30, Math.floor(pixel / 30), 0],
    );
    const [before, after] = [picture, shareOnePalette([picture])[0]].map(pixelsOf);
    expect(after.slice(0, 4_000)).toEqual(before.slice(0, 4_000));
    expect(Math.max(...after.map((value, i) => Math.abs(value - before[i])))).toBeLessThanOrEqual(4);
  });

  it('keep it when they are joined', () => {
    const shared = shareOnePalette([pngOf(() => [1, 2, 3]), pngOf(() => [4, 5, 6])]);
    const joined = joinPngs(shared.map((png) => ({ png, milliseconds: 1 })));
    expect(pixelsOf(joined).slice(0, 4)).toEqual([1, 2, 3, 255]);
    const others = shareOnePalette([pngOf(() => [9, 9, 9])]);
    expect(() => joinPngs([shared[0], others[0]].map((png) => ({ png, milliseconds: 1 })))).toThrow(
      'frame 1: its palette',
    );
  });
});
