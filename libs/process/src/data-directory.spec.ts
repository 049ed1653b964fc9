import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirectory } from './data-directory.js';

describe('DataDirectory', () => {
  let root: string;
  let directory: DataDirectory;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'retrace-directory-'));
    directory = new DataDirectory(root);
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  it('makes credentials once, in a file that only its owner reads', () => {
    const made = directory.credentials();
    expect(new DataDirectory(root).credentials()).toEqual(made);
    expect(statSync(join(root, 'credentials.json')).mode & 0o777).toBe(0o600);
  });

  const whole = { user: 'a', password: 'b', readonlyUser: 'c', readonlyPassword: 'd' };
  it.each([
    ['empty', ''],
    ['cut off', JSON.stringify(whole).slice(0, 20)],
    ['zeroed', '\0'.repeat(200)],
    ['of another shape', '[]'],
    ['without a password', JSON.stringify({ ...whole, readonlyPassword: '' })],
  ])('names a file of credentials that is %s, and says what to do', (_, content) => {
    const path = join(root, 'credentials.json');
    writeFileSync(path, content);
    expect(() => directory.credentials()).toThrow(
      expect.objectContaining({
        code: 'DATA_DIRECTORY_UNUSABLE',
        message:
          `${path} is damaged; it must be a JSON file with user, password, readonlyUser, readonlyPassword. ` +
          'Restore it from a backup, or remove it while nothing runs: the next start makes new passwords',
      }),
    );
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  it('refuses a FIFO in place of the credentials, without waiting for a writer', () => {
    execFileSync('mkfifo', [join(root, 'credentials.json')]);
    expect(() => directory.credentials()).toThrow('credentials.json is damaged');
  });

  it.each(['', '{"pid":', 'null', '{}'])('knows no running server from a file that holds %j', (content) => {
    writeFileSync(join(root, 'server.json'), content);
    expect(directory.runningServer()).toBeNull();
  });
});
