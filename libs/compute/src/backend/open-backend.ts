import { createRequire } from 'node:module';
import * as tf from '../tensorflow.js';
import { registerGradients } from '../gradients/register-gradients.js';
import type { Backend, BackendName } from './backend.js';
import { type ComputeEnvironment, readComputeEnvironment } from './compute-environment.js';
import { ComputeError } from './compute-error.js';
import { findNativeOps } from './installer/build/native-ops.js';
import { findInstallation, type Variant } from './installer/installation.js';
import { DEFAULT_TENSORFLOW_VERSION } from './installer/wheels/tensorflow-version.js';
import {
  activateAddon,
  findOfficialBinding,
  loadNativeOps,
  nativeOpsAreLoaded,
  type TensorflowSettings,
} from './node-addon.js';
import { registerWasmKernels } from './wasm/register-kernels.js';
import { activateWebGpu, webgpuObstacle } from './webgpu.js';

const require = createRequire(import.meta.url);

export interface OpenBackendOptions extends TensorflowSettings {
  /** The backends to try, in this order; by default those of the environment. */
  readonly prefer?: readonly BackendName[];
  readonly environment?: ComputeEnvironment;
}

let opened: Backend | null = null;
let opening: Promise<unknown> = Promise.resolve();

/** The backend that `openBackend` opened last in this process; null before. */
export function openedBackend(): Backend | null {
  return opened;
}

/** The version that was opened, or a few words on why none was. */
type Attempt = { readonly version: string } | { readonly refusal: string };

/**
 * Opens the first backend that works. All tensors of this process are on it from then on. Calls at the same time open one after the other.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` if none of `prefer` works, with a reason for each (the default order ends
 *   with `wasm`, which always works), or as `readComputeEnvironment` does
 */
export function openBackend(options: OpenBackendOptions = {}): Promise<Backend> {
  const next = opening.then(() => openNow(options));
  opening = next.catch(() => undefined);
  return next;
}

async function openNow({
  environment = readComputeEnvironment(),
  prefer = environment.backends,
  ...settings
}: OpenBackendOptions): Promise<Backend> {
  registerGradients();
  const refusals: string[] = [];
  for (const name of prefer) {
    const attempt = await tryBackend(name, environment, settings);
    if ('version' in attempt) {
      const before = refusals.length === 0 ? 'the first choice' : `not ${refusals.join('; not ')}`;
      const lacks = name === 'tensorflow' && !nativeOpsAreLoaded() ? ' (slower: without the fused ops)' : '';
      opened = { name, version: attempt.version, reason: `${name} ${attempt.version}${lacks}: ${before}.` };
      return opened;
    }
    refusals.push(`${name}, because ${attempt.refusal}`);
  }
  throw new ComputeError('BACKEND_UNAVAILABLE', `No backend works: not ${refusals.join('; not ')}.`);
}

/** Says in a few words why a backend can't be used, or null if everything that it needs is there. Loads nothing. */
export async function backendObstacle(
  name: BackendName,
  environment: ComputeEnvironment = readComputeEnvironment(),
): Promise<string | null> {
  const noGpu = environment.gpus.length === 0 ? 'no NVIDIA GPU is visible' : null;
  switch (name) {
    case 'tensorflow-cuda':
      return noGpu ?? notInstalled(environment, 'cuda');
    case 'tfjs-node-gpu':
      return noGpu ?? officialObstacle('@tensorflow/tfjs-node-gpu');
    case 'tensorflow':
      return notInstalled(environment, 'cpu');
    case 'tfjs-node':
      return officialObstacle('@tensorflow/tfjs-node');
    case 'webgpu':
      return webgpuObstacle(environment);
    case 'wasm':
    case 'cpu':
      return null;
  }
}

async function tryBackend(
  name: BackendName,
  environment: ComputeEnvironment,
  settings: TensorflowSettings,
): Promise<Attempt> {
  const obstacle = await backendObstacle(name, environment);
  if (obstacle !== null) return { refusal: obstacle };
  try {
    return { version: await activate(name, environment, settings) };
  } catch (error) {
    return { refusal: `it does not load (${(error as Error).message.split('\n')[0]})` };
  }
}

async function activate(
  name: BackendName,
  environment: ComputeEnvironment,
  settings: TensorflowSettings,
): Promise<string> {
  switch (name) {
    case 'tensorflow-cuda':
      return activateInstalled('cuda', environment, settings);
    case 'tensorflow':
      return activateInstalled('cpu', environment, settings);
    case 'tfjs-node-gpu':
    case 'tfjs-node':
      return activateOfficial(`@tensorflow/${name}`, settings);
    case 'webgpu':
      return activateWebGpu(environment.cacheDirectory);
    case 'wasm':
      require('@tensorflow/tfjs-backend-wasm');
      registerWasmKernels();
      return activatePackaged('wasm');
    case 'cpu':
      require('@tensorflow/tfjs-backend-cpu');
      return activatePackaged('cpu');
  }
}

async function activateInstalled(
  variant: Variant,
  { cacheDirectory, tensorflowVersion: version, processor }: ComputeEnvironment,
  settings: TensorflowSettings,
): Promise<string> {
  const installation = await findInstallation(cacheDirectory, { version, variant });
  if (installation === null) throw new Error('it was removed just now');
  const native = variant === 'cpu' ? findNativeOps(installation.directory, processor) : null;
  const packageName = variant === 'cpu' ? '@tensorflow/tfjs-node' : '@tensorflow/tfjs-node-gpu';
  const addon = { path: installation.bindingPath, packageName, hostPath: native?.host };
  const tensorflowVersion = await activateAddon(addon, settings);
  if (native !== null) loadNativeOps(native.ops);
  return tensorflowVersion;
}

async function activateOfficial(packageName: string, settings: TensorflowSettings): Promise<string> {
  const path = findOfficialBinding(packageName);
  if (path === null) throw new Error('it was removed just now');
  return activateAddon({ path, packageName }, settings);
}

async function activatePackaged(backend: 'wasm' | 'cpu'): Promise<string> {
  if (!(await tf.setBackend(backend))) throw new Error('tfjs refuses it');
  const { version } = require(`@tensorflow/tfjs-backend-${backend}/package.json`) as { version: string };
  return version;
}

async function notInstalled(
  { cacheDirectory, tensorflowVersion: version }: ComputeEnvironment,
  variant: Variant,
): Promise<string | null> {
  if ((await findInstallation(cacheDirectory, { version, variant })) !== null) return null;
  const options = [
    ...(version === DEFAULT_TENSORFLOW_VERSION ? [] : [` --tensorflow ${version}`]),
    ...(variant === 'cuda' ? [' --cuda'] : []),
  ];
  return `${version} is not installed (\`retrace backend install${options.join('')}\`)`;
}

function officialObstacle(packageName: string): string | null {
  return findOfficialBinding(packageName) === null ? `${packageName} has no binary here` : null;
}
