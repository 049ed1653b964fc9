import { expect, it } from 'vitest';
import { readInitSource } from './init-source';

it('the source of a run is the policy that its recipe names', () => {
  const source = { runId: 'a', policyVersion: 3, sha256: 'b', sizeBytes: 8 };
  expect(readInitSource({ initFrom: { run: 'a', source } })).toEqual({ runId: 'a', policyVersion: 3 });
});

it('a run without another policy has no source', () => {
  const recipes = [null, 'recipe', {}, { initFrom: null }, { initFrom: { run: 'a' } }];
  expect(recipes.map(readInitSource)).toEqual([null, null, null, null, null]);
});
