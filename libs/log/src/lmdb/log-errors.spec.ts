import { describe, expect, it } from 'vitest';
import { TrajectoryError } from '@retrace/trajectory';
import { LogError } from '../log-error.js';
import { toLogError } from './log-errors.js';

/** Returns an error like those of the driver: the text of `strerror`, and a number as code. */
function driverError(code: number | string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

const convert = (error: unknown, freeBytes = 2 ** 40): ReturnType<typeof toLogError> =>
  toLogError('append', 'data/log', error, () => Promise.resolve(freeBytes));

describe('toLogError', () => {
  it.each([
    [driverError(28, 'No space left on device'), 'LOG_DISK_FULL', true],
    [driverError(122, 'Disk quota exceeded'), 'LOG_DISK_FULL', true],
    [driverError(5, 'Input/output error'), 'LOG_FAILED', true],
    [driverError('EACCES', 'EACCES: permission denied, mkdir'), 'LOG_NOT_WRITABLE', false],
    [driverError(30, 'Read-only file system'), 'LOG_NOT_WRITABLE', false],
    [driverError(-30796, 'MDB_CORRUPTED: Located page was wrong type'), 'LOG_CORRUPT', false],
    [driverError(-30792, 'MDB_MAP_FULL: Environment mapsize limit reached'), 'LOG_MAP_FULL', false],
    [driverError(12, 'Cannot allocate memory'), 'LOG_FAILED', true],
  ])('turns "%s" into %s', async (cause, code, retriable) => {
    const error = await convert(cause);
    expect(error).toBeInstanceOf(LogError);
    expect(error).toMatchObject({ code, retriable, cause });
    expect(error.message).toContain('append failed in the event log at data/log');
  });

  it('attributes a short write to a full disk when no space is left', async () => {
    expect(await convert(driverError(5, 'Input/output error'), 4096)).toMatchObject({
      code: 'LOG_DISK_FULL',
    });
  });

  it('reports the reason that the driver keeps in a promise', async () => {
    const reason = driverError(28, 'No space left on device');
    const error = Object.assign(new Error('Commit failed'), { commitError: Promise.reject(reason) });
    expect(await convert(error)).toMatchObject({ code: 'LOG_DISK_FULL', cause: reason });
  });

  it('returns our own errors unchanged', async () => {
    const own = new TrajectoryError('INVALID_ARGUMENT', 'numPartitions is 0; must be ≥ 1');
    expect(await convert(own)).toBe(own);
  });
});
