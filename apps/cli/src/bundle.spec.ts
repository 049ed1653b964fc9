import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isBundleCurrent, startsFromBundle } from './bundle.js';

let dist: string;
const isCurrent = () => isBundleCurrent(join(dist, 'bundle'));

beforeEach(() => {
  dist = mkdtempSync(join(tmpdir(), 'retrace-bundle-'));
  mkdirSync(join(dist, 'bundle'));
});
afterEach(() => {
  rmSync(dist, { recursive: true });
});

function write(name: string, content: string, changedAt: number): void {
  writeFileSync(join(dist, name), content);
  utimesSync(join(dist, name), changedAt, changedAt);
}

describe('the bundle of the programs', () => {
  it('is used while it is no older than the files that it was made of', () => {
    write('main.js', '', 100);
    write('bundle/inputs.json', '["../main.js"]', 100);
    expect(isCurrent()).toBe(true);
    write('main.js', '', 101);
    expect(isCurrent()).toBe(false);
  });

  it('is not used where one of the files is gone, or it was never made', () => {
    expect(isCurrent()).toBe(false);
    write('bundle/inputs.json', '["../main.js"]', 100);
    expect(isCurrent()).toBe(false);
  });

  it('is used before types were checked, until they are', () => {
    write('bundle/inputs.json', '["../.tsbuildinfo"]', 100);
    expect(isCurrent()).toBe(true);
    write('.tsbuildinfo', '{}', 101);
    expect(isCurrent()).toBe(false);
  });

  it('is left out where a debugger wants the modules, unless there are none', () => {
    write('main.js', '', 100);
    write('bundle/inputs.json', '["../main.js"]', 100);
    const starts = (environment: NodeJS.ProcessEnv) => startsFromBundle(environment, join(dist, 'bundle'));
    expect(starts({})).toBe(true);
    expect(starts({ RETRACE_BUNDLE: 'no' })).toBe(false);
    write('bundle/inputs.json', '[]', 100);
    expect(starts({ RETRACE_BUNDLE: 'no' })).toBe(true);
  });

  it('is always used where no file can change', () => {
    write('bundle/inputs.json', '[]', 100);
    expect(isCurrent()).toBe(true);
  });
});
