import { describe, expect, it } from 'vitest';
import { readRewardsView, versionLabels, writeRewardsView } from './rewards-view';

const item = (version: string, name: string) => ({
  ...{ version, name, numScored: 5 },
  namedAt: '2026-11-29T11:00:00Z',
});
const VERSIONS = [item('bbbb', 'shaped'), item('aaaa', 'plain'), item('bbbb', 'first-try')];

describe('the view of rewards', () => {
  it('is of the first version and of training, unless the address says otherwise', () => {
    const read = (text: string) => readRewardsView(new URLSearchParams(text), VERSIONS, 'bbbb');
    expect(read('')).toEqual({ version: 'bbbb', otherVersion: null, split: 'train' });
    expect(read('version=plain&against=bbbb&split=all')).toEqual({
      ...{ version: 'aaaa', otherVersion: 'bbbb', split: 'all' },
    });
    expect(read('version=gone&against=shaped&split=none')).toEqual(read(''));
  });

  it('is kept by its address', () => {
    for (const view of [
      { version: 'aaaa', otherVersion: 'bbbb', split: 'test' },
      { version: 'aaaa', otherVersion: null, split: 'all' },
      { version: 'bbbb', otherVersion: null, split: 'train' },
    ] as const)
      expect(readRewardsView(writeRewardsView(view), VERSIONS, 'bbbb')).toEqual(view);
  });

  it('names each version once, by all its names, and tells versions of one name apart', () => {
    expect([...versionLabels(VERSIONS)]).toEqual([
      ['bbbb', 'shaped, first-try'],
      ['aaaa', 'plain'],
    ]);
    const labels = versionLabels([...VERSIONS, item('cccccccccc', 'plain')]);
    expect(labels.get('aaaa')).toMatch(/^plain \(aaaa, /);
    expect(labels.get('cccccccccc')).toMatch(/^plain \(cccccccc, /);
    expect(labels.get('bbbb')).toBe('shaped, first-try');
  });
});
