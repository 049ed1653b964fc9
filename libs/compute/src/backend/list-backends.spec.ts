import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../testing/temporary-directory.js';
import { readComputeEnvironment } from './compute-environment.js';
import { type BackendStatus, listBackends } from './list-backends.js';
import { openBackend } from './open-backend.js';
import { addonVersion } from './installer/build/addon-sources.js';
import { BINDING_FILE, LAYOUT_VERSION, MANIFEST_FILE, platformName } from './installer/installation.js';

/** A cache in which these versions look installed; their binding is a text. */
async function cacheWith(...versions: string[]): Promise<string> {
  const cacheDirectory = await temporaryDirectory();
  const addon = addonVersion();
  for (const version of versions) {
    const name = `tensorflow-${version}-cpu-${platformName()}-tfjs-${addon}`;
    const directory = join(cacheDirectory, 'backends', name);
    await mkdir(dirname(join(directory, BINDING_FILE)), { recursive: true });
    await writeFile(join(directory, BINDING_FILE), version);
    const manifest = {
      ...{ layoutVersion: LAYOUT_VERSION, tensorflowVersion: version, addonVersion: addon, variant: 'cpu' },
      ...{ platform: platformName(), installedAt: '2026-11-22T00:00:00.000Z' },
      files: [{ path: BINDING_FILE, sizeBytes: version.length, sha256: '' }],
    };
    await writeFile(join(directory, MANIFEST_FILE), JSON.stringify(manifest));
  }
  return cacheDirectory;
}

async function tensorflowIn(
  cacheDirectory: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<BackendStatus | undefined> {
  const environment = { ...readComputeEnvironment(variables), cacheDirectory };
  const statuses = await listBackends({ environment });
  return statuses.find(({ name }) => name === 'tensorflow');
}

const versionsOf = (status: BackendStatus | undefined): unknown =>
  status?.installations.map(({ tensorflowVersion, isSelected }) => [tensorflowVersion, isSelected]);

describe('listBackends', () => {
  it('lists every installed version and marks the one that is opened', async () => {
    const cacheDirectory = await cacheWith('2.19.1', '2.21.0');
    const byDefault = await tensorflowIn(cacheDirectory);
    expect(byDefault).toMatchObject({ isAvailable: true, obstacle: null });
    expect(versionsOf(byDefault)).toEqual([
      ['2.21.0', true],
      ['2.19.1', false],
    ]);
    const named = await tensorflowIn(cacheDirectory, { RETRACE_TENSORFLOW: '2.19.1' });
    expect(named).toMatchObject({ isAvailable: true });
    expect(versionsOf(named)).toEqual([
      ['2.21.0', false],
      ['2.19.1', true],
    ]);
  });

  it('never replaces the default by another version', async () => {
    const status = await tensorflowIn(await cacheWith('2.20.0', '2.19.1'));
    const obstacle = '2.21.0 is not installed (`retrace backend install`)';
    expect(status).toMatchObject({ isAvailable: false, isChosen: false, obstacle });
    expect(versionsOf(status)).toEqual([
      ['2.20.0', false],
      ['2.19.1', false],
    ]);
  });

  it('says how to install the version that RETRACE_TENSORFLOW names', async () => {
    const status = await tensorflowIn(await cacheWith(), { RETRACE_TENSORFLOW: '2.20.0' });
    expect(status?.obstacle).toBe('2.20.0 is not installed (`retrace backend install --tensorflow 2.20.0`)');
    expect(status?.installations).toEqual([]);
  });

  it('refuses a version that is not pinned', async () => {
    await expect(tensorflowIn(await cacheWith(), { RETRACE_TENSORFLOW: '1.15' })).rejects.toThrow(
      'RETRACE_TENSORFLOW is "1.15"; it must be one of 2.21.0, 2.20.0, 2.19.1',
    );
  });
});

describe('openBackend', () => {
  it('loads the version that RETRACE_TENSORFLOW names', async () => {
    const cacheDirectory = await cacheWith('2.21.0', '2.20.0');
    const attempt = openBackend({
      prefer: ['tensorflow'],
      environment: { ...readComputeEnvironment({ RETRACE_TENSORFLOW: '2.20.0' }), cacheDirectory },
    });
    // The installed file is not a library, and the linker's message names it.
    await expect(attempt).rejects.toThrow(/does not load \(.*tensorflow-2\.20\.0-cpu-/);
  });
});
