import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { create } from 'tar';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../testing/temporary-directory.js';
import { type DownloadPackage, requirePinned } from './download-package.js';
import { installWebGpuWith, type WebGpuSteps } from './install-webgpu.js';
import { removeBackend } from '../remove-backend.js';
import { DAWN, DAWN_BINARY_FOLDER, findWebGpu, KERNELS_FILE } from './webgpu-installation.js';

/** Packages with the layout of those on the registry; their files are empty. */
const download: DownloadPackage = async ({ name }, directory) => {
  const paths =
    name === DAWN.name
      ? ['package.json', 'index.js', `${DAWN_BINARY_FOLDER}/dawn.node`, 'dist/other-platform/dawn.node']
      : ['package.json', KERNELS_FILE, `${KERNELS_FILE}.map`, 'dist/index.js'];
  const root = await temporaryDirectory();
  for (const path of paths) {
    await mkdir(dirname(join(root, 'package', path)), { recursive: true });
    await writeFile(join(root, 'package', path), '');
  }
  const file = join(directory, `${basename(name)}.tgz`);
  await create({ file, cwd: root, gzip: true }, ['package']);
  return file;
};

function countingSteps(): WebGpuSteps & { numTests: number } {
  const steps = {
    numTests: 0,
    download,
    test: () => {
      steps.numTests++;
      return Promise.resolve();
    },
  };
  return steps;
}

describe('installWebGpu', () => {
  it("installs this platform's binary only, once", async () => {
    const cacheDirectory = await temporaryDirectory();
    const steps = countingSteps();
    const installed = await installWebGpuWith(steps, { cacheDirectory });
    expect(await installWebGpuWith(steps, { cacheDirectory })).toEqual(installed);
    expect(steps.numTests).toBe(1);
    expect(findWebGpu(cacheDirectory)).toEqual(installed);
    expect(await readdir(join(installed.directory, 'dawn', 'dist'))).toEqual([basename(DAWN_BINARY_FOLDER)]);
    expect(await readdir(join(installed.directory, 'kernels', 'dist'))).toEqual([basename(KERNELS_FILE)]);
  });

  it('leaves nothing when Dawn does not load', async () => {
    const cacheDirectory = await temporaryDirectory();
    const test = () => Promise.reject(new Error('GLIBC is too old'));
    await expect(installWebGpuWith({ download, test }, { cacheDirectory })).rejects.toThrow('GLIBC');
    expect(findWebGpu(cacheDirectory)).toBeNull();
    expect(await readdir(join(cacheDirectory, 'backends'))).toEqual([]);
  });

  it('names the platform for which Dawn has no binary', async () => {
    const cacheDirectory = await temporaryDirectory();
    const withoutBinary: DownloadPackage = (pin, directory, signal) =>
      download(pin.name === DAWN.name ? { ...pin, name: 'other' } : pin, directory, signal);
    await expect(
      installWebGpuWith({ ...countingSteps(), download: withoutBinary }, { cacheDirectory }),
    ).rejects.toMatchObject({
      code: 'BACKEND_NOT_INSTALLABLE',
      message: expect.stringContaining(
        `webgpu 0.6.2 has no binary for ${process.platform}-${process.arch}`,
      ) as string,
    });
  });

  it('is removed with the other backends', async () => {
    const cacheDirectory = await temporaryDirectory();
    const { directory } = await installWebGpuWith(countingSteps(), { cacheDirectory });
    expect(await removeBackend({ cacheDirectory })).toEqual([basename(directory)]);
    expect(existsSync(directory)).toBe(false);
  });
});

describe('requirePinned', () => {
  it('refuses content that is not the pinned one', async () => {
    const path = join(await temporaryDirectory(), 'package.tgz');
    await writeFile(path, 'other content');
    await expect(requirePinned(DAWN, path)).rejects.toThrow(
      /^Downloading webgpu 0\.6\.2 failed; its content has sha512-/,
    );
  });
});
