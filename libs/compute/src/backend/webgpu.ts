import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { compileFunction } from 'node:vm';
import * as tf from '@tensorflow/tfjs-core';
import {
  findWebGpu,
  WEBGPU_KERNELS,
  type WebGpuInstallation,
} from './installer/webgpu/webgpu-installation.js';

const require = createRequire(import.meta.url);

/** tfjs's name of the backend. */
const WEBGPU_BACKEND = 'webgpu';

/** The parts of Dawn's module that are used here. */
interface Dawn {
  readonly create: (options: string[]) => object;
  readonly globals: object;
}

interface Adapter {
  readonly description: string;
  /** A rasterizer on the processor: right, and slower than WebAssembly. */
  readonly isFallbackAdapter: boolean;
}

/**
 * Why WebGPU would not be chosen, in a few words, or null. The adapter is asked for in a process of its own, so that a
 * driver which fails there takes nothing with it.
 */
export async function webgpuObstacle(
  cacheDirectory: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string | null> {
  const noDriver = 'Dawn finds no graphics driver (Vulkan, Metal or Direct3D 12)';
  if (!mayHaveDriver(environment)) return noDriver;
  const installation = findWebGpu(cacheDirectory);
  if (installation === null) return 'it is not installed (`retrace backend install --webgpu`)';
  const adapter = await probeAdapter(installation, environment);
  if (adapter === null) return noDriver;
  if (adapter.isFallbackAdapter && environment['RETRACE_WEBGPU_SOFTWARE'] !== 'on') {
    return `${adapter.description} computes on the processor (RETRACE_WEBGPU_SOFTWARE=on allows it, for tests)`;
  }
  return null;
}

/** Makes WebGPU the running backend; returns the version of its kernels. */
export async function activateWebGpu(cacheDirectory: string): Promise<string> {
  const installation = findWebGpu(cacheDirectory);
  if (installation === null) throw new Error('it was removed just now');
  // The kernels look for what browsers have. Dawn lives as long as its `gpu` is referred to.
  const { create, globals } = (await import(pathToFileURL(installation.dawnPath).href)) as Dawn;
  Object.assign(globalThis, globals);
  const navigator = (globalThis as { navigator?: object }).navigator ?? {};
  Object.defineProperty(navigator, 'gpu', { value: create([]), configurable: true });
  Object.defineProperty(globalThis, 'navigator', { value: navigator, configurable: true });
  await registerKernels(installation);
  if (!(await tf.setBackend(WEBGPU_BACKEND))) throw new Error('tfjs refuses it');
  return WEBGPU_KERNELS.version;
}

/**
 * Runs the kernels' file, which registers them. It lies in the cache, from where Node would find no tfjs-core, or
 * another one: it is given that of this process.
 */
async function registerKernels({ kernelsPath }: WebGpuInstallation): Promise<void> {
  const source = await readFile(kernelsPath, 'utf8');
  const run = compileFunction(source, ['require', 'exports', 'module'], { filename: kernelsPath });
  const module = { exports: {} };
  run(require, module.exports, module);
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

async function probeAdapter(
  { dawnPath }: WebGpuInstallation,
  environment: NodeJS.ProcessEnv,
): Promise<Adapter | null> {
  const program = `
    const { create } = await import(${JSON.stringify(pathToFileURL(dawnPath).href)});
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
