import { homedir } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ORDER_OF_CHOICE } from './backend.js';
import { readComputeEnvironment } from './compute-environment.js';
import { ensureBackend } from './ensure-backend.js';
import { installBackend } from './installer/install-backend.js';

describe('readComputeEnvironment', () => {
  it('has a default for every variable that is not set, or set to nothing', () => {
    const defaults = {
      cacheDirectory: `${homedir()}/.cache/retrace`,
      backends: ORDER_OF_CHOICE,
      tensorflowVersion: '2.21.0',
      namesVulkanDriver: false,
      allowsSoftwareWebGpu: false,
    };
    const names = ['XDG_CACHE_HOME', 'RETRACE_BACKEND', 'RETRACE_TENSORFLOW', 'RETRACE_PROCESSOR'];
    const empty = Object.fromEntries([...names, 'VK_ICD_FILENAMES'].map((name) => [name, '']));
    const { processor } = readComputeEnvironment({});
    expect(readComputeEnvironment({})).toMatchObject(defaults);
    expect(readComputeEnvironment(empty)).toMatchObject({ ...defaults, processor });
  });

  it('reads every variable that is set', () => {
    const variables = {
      XDG_CACHE_HOME: '/cache',
      RETRACE_BACKEND: 'wasm',
      RETRACE_TENSORFLOW: '2.19.1',
      RETRACE_PROCESSOR: 'baseline',
      RETRACE_WEBGPU_SOFTWARE: 'on',
      CUDA_VISIBLE_DEVICES: '',
      VK_DRIVER_FILES: '/driver.json',
    };
    expect(readComputeEnvironment(variables)).toEqual({
      cacheDirectory: '/cache/retrace',
      backends: ['wasm'],
      tensorflowVersion: '2.19.1',
      processor: 'baseline',
      gpus: [],
      namesVulkanDriver: true,
      allowsSoftwareWebGpu: true,
      variables,
    });
  });

  it.each(['', ' ', '-1'])('names no GPU where CUDA_VISIBLE_DEVICES is "%s"', (value) => {
    expect(readComputeEnvironment({ CUDA_VISIBLE_DEVICES: value }).gpus).toEqual([]);
  });

  it.each([
    [
      'RETRACE_BACKEND',
      'gpu',
      'RETRACE_BACKEND is "gpu"; it must be one of tensorflow-cuda, tfjs-node-gpu, tensorflow, tfjs-node, webgpu, wasm, cpu',
    ],
    ['RETRACE_TENSORFLOW', '2.18', 'RETRACE_TENSORFLOW is "2.18"; it must be one of 2.21.0, 2.20.0, 2.19.1'],
  ])('refuses %s=%s with the values that are allowed', (name, value, message) => {
    expect(() => readComputeEnvironment({ [name]: value })).toThrow(
      expect.objectContaining({ code: 'BACKEND_UNAVAILABLE', message }),
    );
  });
});

describe('installBackend and ensureBackend', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('refuse a version of TensorFlow that is not pinned, instead of falling back on a slower backend', async () => {
    vi.stubEnv('RETRACE_TENSORFLOW', '2.18');
    // A test that fails to refuse must not install.
    const options = { signal: AbortSignal.abort() };
    const refused = { code: 'BACKEND_UNAVAILABLE', message: expect.stringContaining('"2.18"') as string };
    await expect(installBackend(options)).rejects.toMatchObject(refused);
    await expect(ensureBackend(options)).rejects.toMatchObject(refused);
  });
});
