import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SumTree } from './sum-tree.js';

const weights = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e6, noNaN: true })), {
  minLength: 1,
  maxLength: 40,
});

describe('SumTree', () => {
  it('finds the item that a scan over the weights finds', () => {
    const tree = new SumTree([1, 0, 2, 0.5]);
    expect(tree.total).toBe(3.5);
    expect([0, 0.99, 1, 2.9, 3, 3.49].map((point) => tree.find(point))).toEqual([0, 0, 2, 2, 3, 3]);
    tree.set(2, 0);
    expect([0, 0.99, 1, 1.49].map((point) => tree.find(point))).toEqual([0, 0, 3, 3]);
  });

  it('is after any changes as one that is made of the changed weights', () => {
    const changes = fc.array(fc.tuple(fc.nat(39), fc.double({ min: 0, max: 1e6, noNaN: true })));
    fc.assert(
      fc.property(weights, changes, (first, then) => {
        const changed = [...first];
        const tree = new SumTree(first);
        for (const [item, weight] of then) {
          changed[item % first.length] = weight;
          tree.set(item % first.length, weight);
        }
        const fresh = new SumTree(changed);
        expect(tree.total).toBe(fresh.total);
        expect(tree.numPositive).toBe(changed.filter((weight) => weight > 0).length);
        for (const item of changed.keys()) expect(tree.get(item)).toBe(changed[item]);
      }),
    );
  });

  it('never finds an item without weight, whatever the rounding', () => {
    fc.assert(
      fc.property(weights, fc.double({ min: 0, max: 1, noNaN: true }), (values, part) => {
        const tree = new SumTree(values);
        if (tree.total === 0) return;
        expect(values[tree.find(part * tree.total)]).toBeGreaterThan(0);
      }),
    );
  });

  it.each([
    [() => new SumTree([1, -1]), 'weights[1] is -1, must be a finite number ≥ 0'],
    [() => new SumTree([Number.NaN]), 'weights[0] is NaN, must be a finite number ≥ 0'],
    [() => new SumTree([0]).find(0), 'no item has a weight above 0'],
    [() => new SumTree([0, 0, 0]).find(0), 'no item has a weight above 0'],
    [() => new SumTree([]).find(0), 'no item has a weight above 0'],
    [
      () => {
        new SumTree([1, 1]).set(2, 1);
      },
      'item is 2, must be below the size, 2',
    ],
  ])('refuses %s', (act, message) => {
    expect(act).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', message }));
  });
});
