import { describe, expect, it } from 'vitest';
import { leavesOut, readRunFilter, readSort } from './run-filter';

const read = (address: string) => readRunFilter(new URLSearchParams(address));

describe('the filter of the list of runs', () => {
  it('is what the address says', () => {
    expect(
      read(
        'search=lake%20ppo&status=idle&kind=trained&starred=false&archived=all&tag=paper&sort=metric&metric=train/loss&order=ascending',
      ),
    ).toEqual({
      ...{
        search: 'lake ppo',
        status: 'idle',
        kind: 'trained',
        tag: 'paper',
        starred: false,
        archived: 'all',
      },
      ...{ sort: 'metric', metric: 'train/loss', order: 'ascending' },
    });
  });

  it('leaves out what is empty or not offered, and sorts by start, newest first', () => {
    const all = { sort: 'started', order: 'descending' };
    expect(read('')).toEqual(all);
    expect(read('search=&status=done&kind=&sort=colour&order=up')).toEqual(all);
    // The API refuses either without the other.
    expect(read('sort=metric')).toEqual(all);
    expect(read('metric=train/loss')).toEqual(all);
    expect(leavesOut(read('sort=name'))).toBe(false);
    expect(leavesOut(read('archived=all'))).toBe(false);
    expect(leavesOut(read('tag=paper'))).toBe(true);
    expect(leavesOut(read('starred=false'))).toBe(true);
  });

  it('is shown at the header of its column', () => {
    expect(readSort(read('sort=metric&metric=validation/success'))).toEqual({
      ...{ key: 'metric:validation/success', order: 'descending' },
    });
    expect(readSort(read('sort=name&order=ascending'))).toEqual({ key: 'name', order: 'ascending' });
  });
});
