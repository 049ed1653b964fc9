import { createRequire } from 'node:module';
import * as tf from '@tensorflow/tfjs-core';
import { ComputeError } from './compute-error.js';
import type { Backend, BackendName } from './backend.js';
import { backendNames, ORDER_OF_CHOICE } from './backend.js';
import { registerGradients } from '../gradients/register-gradients.js';
import { gpuIsVisible } from './gpu.js';
import { configureProducts, type MatrixProducts } from './matrix-products.js';
import type { Variant } from './installer/installation.js';
import { defaultCacheDirectory, findInstallation } from './installer/installation.js';
import { findNativeOps } from './installer/build/native-ops.js';
import { runningProcessor } from './installer/build/processor.js';
import type { TensorflowVersion } from './installer/wheels/tensorflow-version.js';
import {
  chosenTensorflowVersion,
  DEFAULT_TENSORFLOW_VERSION,
} from './installer/wheels/tensorflow-version.js';
import { activateAddon, findOfficialBinding, loadNativeOps, nativeOpsAreLoaded } from './node-addon.js';
import { activateWebGpu, webgpuObstacle } from './webgpu.js';
import { registerWasmKernels } from './wasm/register-kernels.js';

const require = createRequire(import.meta.url);

export interface OpenBackendOptions extends MatrixProducts {
  /** Tried in this order; by default what RETRACE_BACKEND names alone, or `orderOfChoice`. */
  readonly prefer?: readonly BackendName[];
  readonly cacheDirectory?: string;
  readonly environment?: NodeJS.ProcessEnv;
}

/** Where an installed TensorFlow is looked for, and which. */
export interface InstallationChoice {
  readonly cacheDirectory: string;
  readonly version: TensorflowVersion;
}

/** A backend that can't be opened says why in a few words. */
type Attempt = { readonly version: string } | { readonly refusal: string };

/**
 * Makes the first backend that works the one that all tensors of this process live on.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` if none of `prefer` works, with a reason for each. With the default order
 *   that can't happen: `wasm` needs nothing. Also if RETRACE_PROCESSOR names no generation that this machine has, or
 *   RETRACE_TENSORFLOW no version that is pinned.
 */
export async function openBackend({
  environment = process.env,
  prefer = backendsOf(environment),
  cacheDirectory = defaultCacheDirectory(environment),
  ...products
}: OpenBackendOptions = {}): Promise<Backend> {
  configureProducts(products);
  registerGradients();
  // What was asked for wrongly is said, before anything slower is taken in its place.
  runningProcessor();
  const choice = { cacheDirectory, version: chosenTensorflowVersion(environment) };
  const refusals: string[] = [];
  for (const name of prefer) {
    const attempt = await tryBackend(name, choice);
    if ('version' in attempt) {
      const before = refusals.length === 0 ? 'the first choice' : `not ${refusals.join('; not ')}`;
      const lacks = name === 'tensorflow' && !nativeOpsAreLoaded() ? ' (slower: without the fused ops)' : '';
      return { name, version: attempt.version, reason: `${name} ${attempt.version}${lacks}: ${before}.` };
    }
    refusals.push(`${name}, because ${attempt.refusal}`);
  }
  throw new ComputeError('BACKEND_UNAVAILABLE', `No backend works: not ${refusals.join('; not ')}.`);
}

/**
 * The backends to try: the one that RETRACE_BACKEND names, or all in the order of choice.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` when it names none that there is
 */
export function backendsOf(environment: NodeJS.ProcessEnv): readonly BackendName[] {
  const named = environment['RETRACE_BACKEND'];
  if (named === undefined || named === '') return ORDER_OF_CHOICE;
  const known = backendNames.find((name) => name === named);
  if (known !== undefined) return [known];
  throw new ComputeError(
    'BACKEND_UNAVAILABLE',
    `RETRACE_BACKEND is ${JSON.stringify(named)}; it must be one of ${backendNames.join(', ')}`,
  );
}

/** Why a backend would not be chosen, in a few words, or null if all it needs is there. Loads nothing. */
export async function backendObstacle(
  name: BackendName,
  choice: InstallationChoice = {
    cacheDirectory: defaultCacheDirectory(),
    version: chosenTensorflowVersion(),
  },
): Promise<string | null> {
  switch (name) {
    case 'tensorflow-cuda':
      return gpuIsVisible() ? notInstalled(choice, 'cuda') : 'no NVIDIA GPU is visible';
    case 'tfjs-node-gpu':
      if (!gpuIsVisible()) return 'no NVIDIA GPU is visible';
      return officialObstacle('@tensorflow/tfjs-node-gpu');
    case 'tensorflow':
      return notInstalled(choice, 'cpu');
    case 'tfjs-node':
      return officialObstacle('@tensorflow/tfjs-node');
    case 'webgpu':
      return webgpuObstacle(choice.cacheDirectory);
    case 'wasm':
    case 'cpu':
      return null;
  }
}

async function tryBackend(name: BackendName, choice: InstallationChoice): Promise<Attempt> {
  const obstacle = await backendObstacle(name, choice);
  if (obstacle !== null) return { refusal: obstacle };
  try {
    return { version: await activate(name, choice) };
  } catch (error) {
    return { refusal: `it does not load (${(error as Error).message.split('\n')[0]})` };
  }
}

async function activate(name: BackendName, choice: InstallationChoice): Promise<string> {
  switch (name) {
    case 'tensorflow-cuda':
      return activateInstalled(choice, 'cuda', '@tensorflow/tfjs-node-gpu');
    case 'tfjs-node-gpu':
      return activateOfficial('@tensorflow/tfjs-node-gpu');
    case 'tensorflow':
      return activateInstalled(choice, 'cpu', '@tensorflow/tfjs-node');
    case 'tfjs-node':
      return activateOfficial('@tensorflow/tfjs-node');
    case 'webgpu':
      return activateWebGpu(choice.cacheDirectory);
    case 'wasm':
      await import('@tensorflow/tfjs-backend-wasm');
      registerWasmKernels();
      return activatePackaged('wasm', '@tensorflow/tfjs-backend-wasm');
    case 'cpu':
      await import('@tensorflow/tfjs-backend-cpu');
      return activatePackaged('cpu', '@tensorflow/tfjs-backend-cpu');
  }
}

async function activateInstalled(
  { cacheDirectory, version }: InstallationChoice,
  variant: Variant,
  packageName: string,
): Promise<string> {
  const installation = await findInstallation(cacheDirectory, { version, variant });
  if (installation === null) throw new Error('it was removed just now');
  const native = variant === 'cpu' ? findNativeOps(installation.directory) : null;
  const tensorflowVersion = await activateAddon(installation.bindingPath, packageName, native?.quiet);
  if (native !== null) loadNativeOps(native.ops);
  return tensorflowVersion;
}

async function activateOfficial(packageName: string): Promise<string> {
  const binding = findOfficialBinding(packageName);
  if (binding === null) throw new Error('it was removed just now');
  return activateAddon(binding, packageName);
}

async function activatePackaged(backend: string, packageName: string): Promise<string> {
  if (!(await tf.setBackend(backend))) throw new Error('tfjs refuses it');
  return (require(`${packageName}/package.json`) as { version: string }).version;
}

async function notInstalled(
  { cacheDirectory, version }: InstallationChoice,
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
