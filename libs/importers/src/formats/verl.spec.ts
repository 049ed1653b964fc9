import { describe, expect, it } from 'vitest';
import { mapAll, startOf, steps } from '../testing/map-all.js';

describe('verl dumps', () => {
  it('keep texts that look like numbers in info, to the last digit', () => {
    const row = {
      input: 'q',
      output: 'a',
      score: 0.5,
      acc: false,
      request_id: '12345678901234567890',
      pred: ['5'],
    };
    const [records] = mapAll('verl', [row]).episodes;
    expect(steps(records)[0]).toMatchObject({
      rewards: { acc: 0 },
      info: { request_id: '12345678901234567890', pred: ['5'] },
    });
  });

  it('are a group where uid, or input and step, are equal, and in none where the row does not say', () => {
    const row = { input: 'q1', output: 'a', score: 1 };
    const rows = [
      { ...row, uid: 'u-1', step: 1 },
      { ...row, uid: 'u-2', step: 1 },
      { ...row, input: 'q2', uid: 'u-1', step: 1 },
      { ...row, step: 1 },
      { ...row, step: 1, output: 'b' },
      { ...row, step: 2 },
      { ...row, input: 'q2', step: 1 },
      row,
    ];
    const ids = mapAll('verl', rows).episodes.map((records) => startOf(records).groupId);
    // Each id is shown by the place of the first row that has it.
    expect(ids.map((id) => (id === undefined ? null : ids.indexOf(id)))).toEqual([0, 1, 0, 3, 3, 5, 6, null]);
    expect(ids[0]).toBe('u-1');
  });
});
