import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DataDirectory } from '@retrace/process';
import { collectorRole, colocatedRole, trainerRole, validatorRole } from './role-definitions.js';

/** The constructor of a data directory reads and writes nothing. */
const directory = new DataDirectory(join(tmpdir(), 'retrace-never-made'));

const optionsOf = (niceness: number) => ({
  ...{ directory, storeUrl: 'http://127.0.0.1:1', runId: 'a', backend: undefined, niceness },
  hasRunEnded: () => false,
});

function nicenessOf(niceness: number) {
  const options = optionsOf(niceness);
  return [
    trainerRole({ ...options, engine: { kind: 'tensorflow' } }),
    colocatedRole({ ...options, engine: { kind: 'tensorflow' }, validates: true }),
    collectorRole({ ...options, share: { index: 0, count: 1 } }),
    validatorRole({ ...options, numCollectors: 1 }),
  ].map((role) => role.niceness);
}

describe('priorities of the roles of a run', () => {
  it.each([
    [0, [0, 0, 0, 9]],
    [10, [10, 10, 10, 19]],
    [19, [19, 19, 19, 19]],
  ])(
    'with --nice %i put the validator 9 steps behind the others, down to the lowest',
    (niceness, expected) => {
      expect(nicenessOf(niceness)).toEqual(expected);
    },
  );
});

describe('the process of trainer and collector', () => {
  it.each([
    [true, 'on'],
    [false, 'off'],
  ])('is told whether it validates, whatever it would inherit: %s', (validates, variable) => {
    const path = mkdtempSync(join(tmpdir(), 'retrace-roles-'));
    try {
      const options = { ...optionsOf(0), directory: new DataDirectory(path), validates };
      const { environment } = colocatedRole({ ...options, engine: { kind: 'tensorflow' } });
      expect(environment(null)).toMatchObject({ RETRACE_COLOCATE_VALIDATOR: variable });
    } finally {
      rmSync(path, { recursive: true });
    }
  });
});
