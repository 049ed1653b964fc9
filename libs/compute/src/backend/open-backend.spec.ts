import * as tf from '@tensorflow/tfjs-core';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../testing/temporary-directory.js';
import { gpuIsVisible, visibleGpus } from './gpu.js';
import { listBackends } from './list-backends.js';
import { openBackend } from './open-backend.js';

const builtPackage = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

describe('openBackend', () => {
  it('falls back on wasm and says why, where nothing is installed', async () => {
    const cacheDirectory = await temporaryDirectory();
    const backend = await openBackend({ prefer: ['tensorflow', 'wasm'], cacheDirectory });
    expect(backend.name).toBe('wasm');
    expect(backend.reason).toMatch(/^wasm 4\.\d+\.\d+: not tensorflow, because 2\.\d+\.\d+ is not installed/);
    expect(tf.getBackend()).toBe('wasm');
  });

  it('names every refusal when nothing that was asked for works', async () => {
    const cacheDirectory = await temporaryDirectory();
    const attempt = openBackend({ prefer: ['tensorflow'], cacheDirectory });
    await expect(attempt).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    await expect(attempt).rejects.toThrow(
      /^No backend works: not tensorflow, because 2\.\d+\.\d+ is not installed/,
    );
  });

  it('says nothing on standard error as TensorFlow loads, unless it was asked to', async (context) => {
    const { name } = (await listBackends()).find(({ isChosen }) => isChosen) ?? {};
    if (name !== 'tensorflow') context.skip();
    const open = (environment: NodeJS.ProcessEnv) =>
      spawnSync(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `const { openBackend } = await import(${JSON.stringify(builtPackage)});
           const { reason } = await openBackend();
           process.stderr.write('stderr again');
           console.log(reason);`,
        ],
        { encoding: 'utf8', env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: undefined, ...environment } },
      );
    const quiet = open({});
    if (quiet.stdout.includes('without the fused ops')) context.skip();
    expect(quiet.stderr).toBe('stderr again');
    expect(open({ TF_CPP_MIN_LOG_LEVEL: '0' }).stderr).toMatch(/absl::InitializeLog.*stderr again/s);
  });

  it('opens what RETRACE_BACKEND names, and refuses a name that there is not', async () => {
    const { name, reason } = await openBackend({ environment: { RETRACE_BACKEND: 'cpu' } });
    expect([name, reason]).toEqual(['cpu', expect.stringMatching(/^cpu 4.*: the first choice\.$/)]);
    await expect(openBackend({ environment: { RETRACE_BACKEND: 'gpu' } })).rejects.toThrow(
      'RETRACE_BACKEND is "gpu"; it must be one of tensorflow-cuda, tfjs-node-gpu, tensorflow, tfjs-node, webgpu, wasm, cpu',
    );
  });

  it('registers gradients with every backend', async () => {
    await openBackend({ prefer: ['cpu'] });
    const gradient = tf.grad((x) => tf.sum(tf.square(x)))(tf.tensor1d([3]));
    expect([...gradient.dataSync()]).toEqual([6]);
  });
});

describe('gpuIsVisible', () => {
  it.each(['', '-1'])('is false when CUDA_VISIBLE_DEVICES is "%s"', (value) => {
    expect(gpuIsVisible({ CUDA_VISIBLE_DEVICES: value })).toBe(false);
  });
});

describe('visibleGpus', () => {
  it('are none where none may be used', () => {
    expect(visibleGpus({ CUDA_VISIBLE_DEVICES: '' })).toEqual([]);
  });
});

describe('listBackends', () => {
  it('chooses the first that is available and gives the others a reason', async () => {
    const statuses = await listBackends({ cacheDirectory: await temporaryDirectory() });
    expect(statuses.map(({ name }) => name).at(-1)).toBe('wasm');
    expect(statuses.filter(({ isChosen }) => isChosen)).toHaveLength(1);
    for (const { isAvailable, obstacle } of statuses) expect(obstacle === null).toBe(isAvailable);
  });

  it('finds the installation of this machine whole, if there is one', async () => {
    const statuses = await listBackends({ verify: true });
    for (const { installations } of statuses)
      for (const { damage } of installations) expect(damage).toBeNull();
  });
});
