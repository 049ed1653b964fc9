import { describe, expect, it } from 'vitest';
import { nearNames } from './near-names.js';

const KNOWN = ['bandit', 'fixed-lake', 'frozen-lake', 'memory-bandit'];

describe('nearNames', () => {
  it('finds names a few edits away, nearest first', () => {
    expect(nearNames('frozenlake', KNOWN)).toEqual(['frozen-lake']);
    expect(nearNames('bandti', KNOWN)).toEqual(['bandit']);
  });

  it('finds names that contain the given one, ignoring case', () => {
    expect(nearNames('LAKE', KNOWN)).toEqual(['fixed-lake', 'frozen-lake']);
  });

  it('finds nothing for an empty name or one unlike all others', () => {
    expect(nearNames('sokoban', KNOWN)).toEqual([]);
    expect(nearNames('', KNOWN)).toEqual([]);
  });
});
