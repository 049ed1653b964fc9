import { describe, expect, it } from 'vitest';
import { rolesOf } from './roles.js';

describe('roles', () => {
  it('are data sources, with the baselines they had and 0 for new ones', () => {
    const textsOf = (task: { data_source?: string } | null) => ({
      environment: 'bandit',
      task,
      finalObservation: '',
      steps: [],
    });
    const texts = [{ data_source: 'math' }, null, { data_source: 'math' }].map(textsOf);
    const { names, roleIds, baselines } = rolesOf(texts, undefined, { math: 0.5, code: 9 });
    expect(names).toEqual(['math', 'bandit']);
    expect([...roleIds]).toEqual([0, 1, 0]);
    expect([...baselines]).toEqual([0.5, 0]);
  });
});
