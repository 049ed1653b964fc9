import { describe, expect, it } from 'vitest';
import { isReleaseSpec, listSpecs, specsThatStartNothing } from './spec-kinds.mjs';

describe('kinds of specs', () => {
  const specs = listSpecs();
  const plain = new Set(specsThatStartNothing(specs));

  it.each([
    ['libs/algorithms/src/losses/policy-losses.spec.ts', true],
    ['apps/dashboard/src/charts/chart-data.spec.ts', true],
    ['libs/store/src/sink/sink.spec.ts', false],
    ['libs/policy/src/model/attention.spec.ts', false],
    ['libs/log/src/lmdb/damage.spec.ts', false],
    ['test/api-keys.spec.ts', false],
  ])('%s starts nothing: %s', (spec, startsNothing) => {
    expect(specs).toContain(spec);
    expect(plain.has(spec)).toBe(startsNothing);
  });

  it('types do not count, and neither does what the product loads but a spec does not ask for', () => {
    const read = () => "import type { Tensor } from '@tensorflow/tfjs-core';\nimport { x } from 'node:path';";
    expect(specsThatStartNothing(['libs/a/src/a.spec.ts'], read)).toEqual(['libs/a/src/a.spec.ts']);
    const product = () => "import { spawn } from 'node:child_process';";
    expect(specsThatStartNothing(['libs/a/src/a.ts'], product)).toEqual(['libs/a/src/a.ts']);
  });

  it('every spec of a release exists', () => {
    expect(specs.filter(isReleaseSpec).length).toBeGreaterThan(20);
    expect(isReleaseSpec('test/clients/jdbc.spec.ts')).toBe(true);
    expect(isReleaseSpec('test/faults/kill.spec.ts')).toBe(false);
  });
});
