import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RankWindow } from './rank-window.js';

it('RankWindow: never calls a seen rank new, and calls every unseen one new that is within the window', () => {
  const step = fc.oneof(fc.integer({ min: -40, max: 40 }), fc.integer({ min: -140_000, max: 400_000 }));
  fc.assert(
    fc.property(fc.integer({ min: -1, max: 100 }), fc.array(step, { maxLength: 60 }), (floor, steps) => {
      const window = new RankWindow(floor);
      const seen = new Set<number>();
      let at = floor + 1;
      let highest = floor;
      for (const by of steps) {
        at = Math.max(0, at + by);
        const isKnown = at > floor && at > highest - 131_072;
        expect(window.isNew(at)).toBe(isKnown && !seen.has(at));
        window.add(at);
        seen.add(at);
        highest = Math.max(highest, at);
        expect(window.isNew(at)).toBe(false);
      }
    }),
  );
});
