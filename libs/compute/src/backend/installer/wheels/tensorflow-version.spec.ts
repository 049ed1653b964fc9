import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../testing/temporary-directory.js';
import { ensureBackend } from '../../ensure-backend.js';
import { installBackend } from '../install-backend.js';
import { chosenTensorflowVersion, parseTensorflowVersion } from './tensorflow-version.js';

const refused = {
  code: 'BACKEND_UNAVAILABLE',
  message: 'RETRACE_TENSORFLOW is "2.18"; it must be one of 2.21.0, 2.20.0, 2.19.1',
};

describe('RETRACE_TENSORFLOW', () => {
  it.each([
    [{}, '2.21.0'],
    [{ RETRACE_TENSORFLOW: '' }, '2.21.0'],
    [{ RETRACE_TENSORFLOW: '2.19.1' }, '2.19.1'],
  ])('%o chooses %s', (environment: NodeJS.ProcessEnv, version) => {
    expect(chosenTensorflowVersion(environment)).toBe(version);
  });

  it('is refused where nothing is pinned under its name', () => {
    expect(() => chosenTensorflowVersion({ RETRACE_TENSORFLOW: '2.18' })).toThrow(
      expect.objectContaining(refused),
    );
  });

  it('is refused by the installer, too, and never by something slower in its place', async () => {
    const options = {
      cacheDirectory: await temporaryDirectory(),
      environment: { RETRACE_TENSORFLOW: '2.18' },
      // Should it begin to install after all.
      signal: AbortSignal.abort(),
    };
    await expect(installBackend(options)).rejects.toMatchObject(refused);
    await expect(ensureBackend(options)).rejects.toMatchObject(refused);
  });
});

describe('parseTensorflowVersion', () => {
  it('names what the value was given as', () => {
    expect(parseTensorflowVersion('2.20.0', '--tensorflow')).toBe('2.20.0');
    expect(() => parseTensorflowVersion('2.20', '--tensorflow')).toThrow(
      '--tensorflow is "2.20"; it must be one of 2.21.0, 2.20.0, 2.19.1',
    );
  });
});
