import { expect, it } from 'vitest';
import { InsertPace } from './insert-pace.js';

/** Start times of inserts that always have something to insert. */
function startsOf(pace: InsertPace, fromMs: number, count: number): number[] {
  const starts: number[] = [];
  let nowMs = fromMs;
  for (let i = 0; i < count; i++) {
    nowMs = Math.max(nowMs, pace.notBeforeMs);
    pace.started(nowMs);
    starts.push(nowMs);
  }
  return starts;
}

it('InsertPace: lets a burst start at once and then keeps the interval', () => {
  expect(startsOf(new InsertPace(60, 3), 1000, 6)).toEqual([1000, 1000, 1000, 1060, 1120, 1180]);
});

it('InsertPace: keeps the interval from the first insert on with a burst of one', () => {
  expect(startsOf(new InsertPace(60, 1), 0, 3)).toEqual([0, 60, 120]);
});

it('InsertPace: saves up no more than one burst, however long the pause', () => {
  const pace = new InsertPace(10, 2);
  startsOf(pace, 0, 5);
  expect(startsOf(pace, 1_000_000, 4)).toEqual([1_000_000, 1_000_000, 1_000_010, 1_000_020]);
});
