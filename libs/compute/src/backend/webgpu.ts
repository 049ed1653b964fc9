import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { compileFunction } from 'node:vm';
import * as tf from '../tensorflow.js';
import type { ComputeEnvironment } from './compute-environment.js';
import {
  findWebGpu,
  WEBGPU_KERNELS,
  type WebGpuInstallation,
} from './installer/webgpu/webgpu-installation.js';

const require = createRequire(import.meta.url);

/** The name by which tfjs knows the backend. */
const WEBGPU_BACKEND = 'webgpu';

/** The part of Dawn's module that is used here. */
interface Dawn {
  readonly create: (options: string[]) => object;
  readonly globals: object;
}

interface Adapter {
  readonly description: string;
  /** Whether it computes on the processor, which is correct and slower than WebAssembly. */
  readonly isFallbackAdapter: boolean;
}

/**
 * Says in a few words why WebGPU can't be used, or null. The adapter is asked for in a process of its own, so that a
 * driver that crashes ends only that process.
 */
export async function webgpuObstacle(environment: ComputeEnvironment): Promise<string | null> {
  const noDriver = 'Dawn finds no graphics driver (Vulkan, Metal or Direct3D 12)';
  if (!mayHaveDriver(environment.namesVulkanDriver)) return noDriver;
  const installation = findWebGpu(environment.cacheDirectory);
  if (installation === null) return 'it is not installed (`retrace backend install --webgpu`)';
  const adapter = await probeAdapter(installation);
  if (adapter === null) return noDriver;
  if (adapter.isFallbackAdapter && !environment.allowsSoftwareWebGpu) {
    return `${adapter.description} computes on the processor (RETRACE_WEBGPU_SOFTWARE=on allows it, for tests)`;
  }
  return null;
}

/** Makes WebGPU the running backend; returns the version of its kernels. */
export async function activateWebGpu(cacheDirectory: string): Promise<string> {
  const installation = findWebGpu(cacheDirectory);
  if (installation === null) throw new Error('it was removed just now');
  // The kernels expect the globals of a browser. Dawn is alive as long as its `gpu` is referred to.
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
 * Runs the kernels' file, which registers them. From the cache Node would resolve no tfjs-core, or another one, so the
 * file is given the one of this process.
 */
async function registerKernels({ kernelsPath }: WebGpuInstallation): Promise<void> {
  const source = await readFile(kernelsPath, 'utf8');
  const run = compileFunction(source, ['require', 'exports', 'module'], { filename: kernelsPath });
  const module = { exports: {} };
  run(require, module.exports, module);
}

/** Says whether tensors can be read synchronously, which WebGPU does not allow. */
export function readsSynchronously(): boolean {
  return tf.getBackend() !== WEBGPU_BACKEND;
}

/** Says whether asking Dawn, which takes a process, can find anything. */
function mayHaveDriver(isNamed: boolean): boolean {
  if (isNamed || process.platform !== 'linux') return true;
  return ['/dev/dri', '/dev/dxg', '/dev/nvidiactl'].some((device) => existsSync(device));
}

async function probeAdapter({ dawnPath }: WebGpuInstallation): Promise<Adapter | null> {
  const program = `
    const { create } = await import(${JSON.stringify(pathToFileURL(dawnPath).href)});
    const { info } = (await create([]).requestAdapter()) ?? {};
    const { description, isFallbackAdapter } = info ?? {};
    console.log(JSON.stringify(info ? { description, isFallbackAdapter } : null));`;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 10_000,
    });
    return JSON.parse(stdout) as Adapter | null;
  } catch {
    return null;
  }
}
