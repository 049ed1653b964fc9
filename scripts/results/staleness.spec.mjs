import { describe, expect, it } from 'vitest';
import { changedFiles, oldestFirst } from './staleness.mjs';

/** Blobs are named by their content here; the part before the hash sign is the code. */
const changed = (now, then, renames = {}) =>
  changedFiles({
    files: Object.keys(now),
    now: new Map(Object.entries(now).filter(([, blob]) => blob !== null)),
    then: new Map(Object.entries(then)),
    renames: new Map(Object.entries(renames)),
    fingerprint: (blob) => blob.split('#')[0],
  });

describe('the files that changed since a result was recorded', () => {
  it('leave out those of the same content, under whichever path', () => {
    expect(changed({ 'a.ts': 'A', 'lib/b.ts': 'B' }, { 'a.ts': 'A', 'b.ts': 'B' })).toEqual([]);
  });

  it('leave out those whose code is the same, at their path or at the one before a rename', () => {
    const now = { 'a.ts': 'A#reworded', 'lib/b.ts': 'B#moved' };
    expect(changed(now, { 'a.ts': 'A#comment', 'b.ts': 'B' }, { 'lib/b.ts': 'b.ts' })).toEqual([]);
  });

  it('are those with other code, new ones, and ones that are not committed', () => {
    const now = { 'a.ts': 'A2', 'lib/b.ts': 'B2', 'new.ts': 'N', 'draft.ts': null };
    expect(changed(now, { 'a.ts': 'A', 'b.ts': 'B' }, { 'lib/b.ts': 'b.ts' })).toEqual([
      'a.ts',
      'lib/b.ts',
      'new.ts',
      'draft.ts',
    ]);
  });
});

describe('the order of results', () => {
  it('is that of their dates, with those never recorded at the end', () => {
    const results = [
      { name: 'never', recorded: null },
      { name: 'late', recorded: { date: '2026-11-22T20:00:00.000Z' } },
      { name: 'early', recorded: { date: '2026-11-22T03:00:00.000Z' } },
      { name: 'also never', recorded: null },
    ];
    expect(oldestFirst(results).map(({ name }) => name)).toEqual(['early', 'late', 'also never', 'never']);
  });
});
