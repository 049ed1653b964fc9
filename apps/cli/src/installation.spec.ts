import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleOf } from './installation.js';

let dist: string;

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

describe('the bundle of a program', () => {
  it('is used while it is no older than the files that it was made of', () => {
    write('main.js', '', 100);
    write('bundle/inputs.json', '["../main.js"]', 100);
    expect(bundleOf(dist)).toBe(join(dist, 'bundle', 'main.js'));
    write('main.js', '', 101);
    expect(bundleOf(dist)).toBeNull();
  });

  it('is not used where one of the files is gone, or it was never made', () => {
    expect(bundleOf(dist)).toBeNull();
    write('bundle/inputs.json', '["../main.js"]', 100);
    expect(bundleOf(dist)).toBeNull();
  });

  it('is always used where no file can change', () => {
    write('bundle/inputs.json', '[]', 100);
    expect(bundleOf(dist)).toBe(join(dist, 'bundle', 'main.js'));
  });
});
