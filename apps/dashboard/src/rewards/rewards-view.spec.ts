import { describe, expect, it } from 'vitest';
import { namedVersions, readRewardsView, writeRewardsView } from './rewards-view';

const item = (version: string, name: string) => ({ version, name, namedAt: '2026-11-29T11:00:00Z' });
const VERSIONS = [item('bbbb', 'shaped'), item('aaaa', 'plain'), item('bbbb', 'first-try')];

describe('the view of rewards', () => {
  it('is of the version named last and of training, unless the address says otherwise', () => {
    const read = (text: string) => readRewardsView(new URLSearchParams(text), VERSIONS);
    expect(read('')).toEqual({ version: 'bbbb', otherVersion: null, split: 'train' });
    expect(read('version=plain&against=bbbb&split=all')).toEqual({
      ...{ version: 'aaaa', otherVersion: 'bbbb', split: null },
    });
    expect(read('version=gone&against=shaped&split=none')).toEqual(read(''));
  });

  it('is kept by its address', () => {
    for (const view of [
      { version: 'aaaa', otherVersion: 'bbbb', split: 'test' },
      { version: 'aaaa', otherVersion: null, split: null },
      { version: 'bbbb', otherVersion: null, split: 'train' },
    ] as const)
      expect(readRewardsView(writeRewardsView(view), VERSIONS)).toEqual(view);
  });

  it('names each version once, by all its names', () => {
    expect(namedVersions(VERSIONS)).toEqual([
      { version: 'bbbb', label: 'shaped, first-try' },
      { version: 'aaaa', label: 'plain' },
    ]);
  });
});
