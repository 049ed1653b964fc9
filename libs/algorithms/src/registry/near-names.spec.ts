import { describe, expect, it } from 'vitest';
import { nearNames } from './near-names.js';

const KNOWN = ['bandit', 'fixed-lake', 'frozen-lake', 'memory-bandit'];

describe('nearNames', () => {
  it('finds names a few edits away, nearest first', () => {
    expect(nearNames('frozenlake', KNOWN)).toEqual(['frozen-lake']);
    expect(nearNames('bandti', KNOWN)).toEqual(['bandit']);
  });

  it('finds names that contain the wanted one, in any case', () => {
    expect(nearNames('LAKE', KNOWN)).toEqual(['fixed-lake', 'frozen-lake']);
  });

  it('finds nothing for a name unlike all of them, and for an empty one', () => {
    expect(nearNames('sokoban', KNOWN)).toEqual([]);
    expect(nearNames('', KNOWN)).toEqual([]);
  });
});
