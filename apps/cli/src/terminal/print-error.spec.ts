import { afterEach, describe, expect, it, vi } from 'vitest';
import { printError } from './print-error.js';

describe('printError', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  function printed(error: unknown): string {
    const write = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    printError(error, { json: false, verbose: false });
    return String(write.mock.lastCall?.[0]);
  }

  it('says who did not answer and why, where fetch says only that it failed', async () => {
    const refused: unknown = await fetch('http://127.0.0.1:1/').catch((error: unknown) => error);
    expect(printed(refused)).toMatch(/^retrace: no answer from a server: .+/);
    const cause = new AggregateError([new Error('connect ECONNREFUSED ::1:8787'), new Error('other')]);
    expect(printed(new TypeError('fetch failed', { cause }))).toBe(
      'retrace: no answer from a server: connect ECONNREFUSED ::1:8787',
    );
    expect(printed(new TypeError('fetch failed'))).toBe('retrace: fetch failed');
  });

  it('says what to do about too few files', () => {
    const error = Object.assign(new Error('EMFILE: too many open files, open x'), { code: 'EMFILE' });
    expect(printed(error)).toBe(
      'retrace: EMFILE: too many open files, open x: this process may open too few files; raise the limit, as by "ulimit -n 4096"',
    );
  });

  it('obeys no control character', () => {
    expect(printed(new Error('a\u001b[2Jb'))).toBe('retrace: a\\u{1b}[2Jb');
  });
});
