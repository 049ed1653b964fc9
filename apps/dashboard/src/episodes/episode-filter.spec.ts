import { describe, expect, it } from 'vitest';
import { readFilter } from './episode-filter';

const filterOf = (search: string) => readFilter(new URLSearchParams(search));

describe('readFilter', () => {
  it('reads words, truth values and numbers', () => {
    expect(filterOf('split=test&success=false&sealed=true&agent=me&groupId=g&update=12&sort=oldest')).toEqual(
      {
        split: 'test',
        success: false,
        sealed: true,
        agent: 'me',
        groupId: 'g',
        update: 12,
        sort: 'oldest',
      },
    );
  });

  it('reads texts and bounds, and leaves out a bound that is no number', () => {
    expect(filterOf('tag=a&text=stuck&minReturn=-0.5&maxReturn=x&minCostUsd=0.1')).toEqual({
      tag: 'a',
      text: 'stuck',
      minReturn: -0.5,
      minCostUsd: 0.1,
      sort: 'newest',
    });
  });

  it('leaves out filters that are missing, empty or not offered, and sorts newest first', () => {
    const everything = { sort: 'newest' };
    expect(filterOf('')).toEqual(everything);
    expect(filterOf('split=&success=&update=')).toEqual(everything);
    expect(filterOf('split=toast&success=maybe&sort=best')).toEqual(everything);
  });
});
