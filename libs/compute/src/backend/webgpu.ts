import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import * as tf from '@tensorflow/tfjs-core';

const require = createRequire(import.meta.url);

/** tfjs's name of the backend, and of the package in which Dawn (Chromium's WebGPU) comes for Node. */
export const WEBGPU_BACKEND = 'webgpu';
const KERNELS_PACKAGE = '@tensorflow/tfjs-backend-webgpu';

interface Adapter {
  readonly description: string;
  /** A rasterizer on the processor: right, and slower than WebAssembly. */
  readonly isFallbackAdapter: boolean;
}

/**
 * Why WebGPU would not be chosen, in a few words, or null. The adapter is asked for in a process of its own, so that a
 * driver which fails there takes nothing with it.
 */
export async function webgpuObstacle(environment: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  const missing = [WEBGPU_BACKEND, KERNELS_PACKAGE].filter((name) => !isInstalled(name));
  if (missing.length > 0)
    return `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not installed`;
  const adapter = mayHaveDriver(environment) ? await probeAdapter(environment) : null;
  if (adapter === null) return 'Dawn finds no graphics driver (Vulkan, Metal or Direct3D 12)';
  if (adapter.isFallbackAdapter && environment['RETRACE_WEBGPU_SOFTWARE'] !== 'on') {
    return `${adapter.description} computes on the processor (RETRACE_WEBGPU_SOFTWARE=on allows it, for tests)`;
  }
  return null;
}

/** Makes WebGPU the running backend; returns the version of its kernels. */
export async function activateWebGpu(): Promise<string> {
  // The kernels look for what browsers have. Dawn lives as long as its `gpu` is referred to.
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  const navigator = (globalThis as { navigator?: object }).navigator ?? {};
  Object.defineProperty(navigator, 'gpu', { value: create([]), configurable: true });
  Object.defineProperty(globalThis, 'navigator', { value: navigator, configurable: true });
  await import('@tensorflow/tfjs-backend-webgpu');
  if (!(await tf.setBackend(WEBGPU_BACKEND))) throw new Error('tfjs refuses it');
  return (require(`${KERNELS_PACKAGE}/package.json`) as { version: string }).version;
}

/** Whether what is on the device can be read at once; from WebGPU it comes later, or never. */
export function readsSynchronously(): boolean {
  return tf.getBackend() !== WEBGPU_BACKEND;
}

/** Spares the machines that have no GPU the process that asks Dawn. */
function mayHaveDriver(environment: NodeJS.ProcessEnv): boolean {
  if (process.platform !== 'linux') return true;
  const isNamed = ['VK_ICD_FILENAMES', 'VK_DRIVER_FILES'].some((name) => environment[name]);
  return isNamed || ['/dev/dri', '/dev/dxg', '/dev/nvidiactl'].some((device) => existsSync(device));
}

async function probeAdapter(environment: NodeJS.ProcessEnv): Promise<Adapter | null> {
  const program = `
    const { create } = await import(${JSON.stringify(pathToFileURL(require.resolve(WEBGPU_BACKEND)).href)});
    const { info } = (await create([]).requestAdapter()) ?? {};
    const { description, isFallbackAdapter } = info ?? {};
    console.log(JSON.stringify(info ? { description, isFallbackAdapter } : null));`;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      env: environment,
      timeout: 10_000,
    });
    return JSON.parse(stdout) as Adapter | null;
  } catch {
    return null;
  }
}

function isInstalled(packageName: string): boolean {
  try {
    require.resolve(packageName);
    return true;
  } catch {
    return false;
  }
}
