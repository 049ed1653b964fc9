import { describe, expect, it } from 'vitest';
import { readOrder, writeOrder } from './inputs-order';

const FIRST = { sort: 'share', order: 'descending' };

describe('the order of the episodes of an update', () => {
  it('is in the address, as far as it was chosen', () => {
    for (const address of ['', 'sort=age', 'order=ascending&success=false', 'sort=return&success=true'])
      expect(writeOrder(readOrder(new URLSearchParams(address))).toString()).toBe(address);
    expect(readOrder(new URLSearchParams('sort=age&success=false'))).toEqual({
      sort: 'age',
      order: 'descending',
      success: false,
    });
  });

  it('begins with the largest share of the gradient, also where the address has what it can not have', () => {
    expect(readOrder(new URLSearchParams())).toEqual(FIRST);
    expect(readOrder(new URLSearchParams('sort=luck&order=up&success=perhaps'))).toEqual(FIRST);
  });
});
