import { describe, expect, it } from 'vitest';
import { numberedAnchors, listRoles } from './advantages.js';

describe('numbered anchors', () => {
  const columns = {
    groupIds: ['a', 'a', 'b'],
    stepOffsets: Int32Array.of(0, 1, 2, 3),
    anchors: ['abcdefghij', 'abcdefghiX', 'abcdefghij'],
  };

  it('are equal for equal states, and with a threshold for similar ones of a group', () => {
    expect(numberedAnchors(columns, undefined)).toEqual({ anchors: Int32Array.of(0, 1, 0), warnings: [] });
    expect(numberedAnchors(columns, 0.9)).toEqual({ anchors: Int32Array.of(0, 0, 2), warnings: [] });
  });

  it('say so where a group has too much text to look for similar states', () => {
    const long = columns.anchors.map((anchor) => anchor + 'z'.repeat(100_000));
    const { anchors, warnings } = numberedAnchors({ ...columns, anchors: long }, 0.9);
    expect([...anchors]).toEqual([0, 1, 2]);
    expect(warnings).toEqual([
      expect.stringMatching(/more than 131072 characters .* similar ones: 1; in them only equal states/),
    ]);
  });
});

describe('roles', () => {
  it('are data sources, with the baselines they had and 0 for new ones', () => {
    const textsOf = (task: { data_source?: string } | null) => ({
      environment: 'bandit',
      task,
      finalObservation: '',
      steps: [],
    });
    const texts = [{ data_source: 'math' }, null, { data_source: 'math' }].map(textsOf);
    const { names, roleIds, baselines } = listRoles(texts, undefined, { math: 0.5, code: 9 });
    expect(names).toEqual(['math', 'bandit']);
    expect([...roleIds]).toEqual([0, 1, 0]);
    expect([...baselines]).toEqual([0.5, 0]);
  });
});
