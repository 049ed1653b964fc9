import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import util from 'node:util';
import * as tf from '../tensorflow.js';
import type { NodeJSKernelBackend } from '@tensorflow/tfjs-node/dist/nodejs_kernel_backend.js';
import type { TFJSBinding } from '@tensorflow/tfjs-node/dist/tfjs_binding.js';

const require = createRequire(import.meta.url);

/** The name by which tfjs knows every backend that runs through the addon. */
export const ADDON_BACKEND = 'tensorflow';

let hasNativeOps = false;

/** Whether Retrace's own fused ops are part of the TensorFlow that runs. */
export function nativeOpsAreLoaded(): boolean {
  return hasNativeOps;
}

/** Adds Retrace's own ops to the loaded TensorFlow, unless their file does not load. */
export function loadNativeOps(path: string): void {
  if (hasNativeOps) return;
  try {
    require(realpathSync(path));
    hasNativeOps = true;
  } catch {
    // Every op has a form that is composed of TensorFlow's own.
  }
}

/** How TensorFlow computes in the whole process. */
export interface TensorflowSettings {
  /**
   * `bfloat16` rounds the factors of matrix products to bfloat16, where the processor has instructions for it
   * (AVX512-BF16, AMX); sums, weights and everything stored stay float32. Default `float32`.
   */
  readonly matMulPrecision?: 'float32' | 'bfloat16';
  /** Number of elements of the largest weight matrix; not given: many. */
  readonly largestMatrix?: number;
  /** The only GPU to use, as CUDA_VISIBLE_DEVICES names it. */
  readonly visibleGpu?: string;
}

/**
 * Up to this many elements oneDNN's products do not pay: it compiles code for every new number of rows, for half a
 * millisecond each, and keeps it, which takes hundreds of MiB where packs are ragged. Eigen uses one kernel for all.
 * Measured on whole training loops: Eigen is 1.35 times as fast at 64×176, 1.07 at 192×528 (101,376 elements), equally
 * fast at 256×704 (180,224).
 */
const MOST_WITHOUT_ONE_DNN = 2 ** 17;

/** Writes settings to the variables that TensorFlow reads; what the user has set stays, except for an explicit setting. */
export function configureTensorflow(
  { matMulPrecision, largestMatrix = Infinity, visibleGpu }: TensorflowSettings,
  variables: NodeJS.ProcessEnv,
): void {
  variables['TF_CPP_MIN_LOG_LEVEL'] ??= '2';
  variables['TF_FORCE_GPU_ALLOW_GROWTH'] ??= 'true';
  if (visibleGpu !== undefined) variables['CUDA_VISIBLE_DEVICES'] = visibleGpu;
  if (matMulPrecision === 'bfloat16') variables['TF_SET_ONEDNN_FPMATH_MODE'] = 'BF16';
  else if (largestMatrix <= MOST_WITHOUT_ONE_DNN) variables['TF_ENABLE_ONEDNN_OPTS'] ??= '0';
}

/**
 * Says whether the running backend multiplies matrices in float32. WebAssembly, plain JavaScript and TensorFlow on a
 * processor do, except where bfloat16 was asked for; on NVIDIA GPUs TensorFlow rounds the factors to TF32.
 */
export function multipliesInFloat32(variables: NodeJS.ProcessEnv = process.env): boolean {
  // Only TensorFlow's own backend knows of devices.
  const { isUsingGpuDevice } = tf.backend() as { readonly isUsingGpuDevice?: boolean };
  if (isUsingGpuDevice === undefined) return true;
  return !isUsingGpuDevice && variables['TF_SET_ONEDNN_FPMATH_MODE'] !== 'BF16';
}

export interface Addon {
  /** Path of the binary, which registers itself as the backend of that npm package. */
  readonly path: string;
  readonly packageName: string;
  /** Path of the addon that prepares the process; without it TensorFlow's greeting is printed, and a signal may end the process (`native/host.cc`). */
  readonly hostPath?: string;
}

/**
 * Loads an addon and makes it the running backend. tfjs-node's own entry point would look for its binary with
 * node-pre-gyp, so its kernels and backend class are registered here instead. Returns TensorFlow's version.
 * A process can load one addon.
 *
 * @throws Error of the dynamic linker
 */
export async function activateAddon(
  { path, packageName, hostPath }: Addon,
  settings: TensorflowSettings,
): Promise<string> {
  const isVerbose = process.env['TF_CPP_MIN_LOG_LEVEL'] !== undefined;
  // The only place that writes process.env: TensorFlow offers no other way, and reads each variable once, when its
  // libraries are loaded or when it first computes.
  configureTensorflow(settings, process.env);
  restoreRemovedUtilities();
  const load = (): LoadedBinding => require(realpathSync(path)) as LoadedBinding;
  const host = hostPath === undefined ? null : findHost(hostPath);
  // Before TensorFlow starts its threads, which get this thread's mask of signals.
  host?.keepSignalsOffHeap();
  const binding = host === null || isVerbose ? load() : host.silently(load);
  addTensorMethods();
  require('@tensorflow/tfjs-node/dist/register_all_kernels.js');
  const { NodeJSKernelBackend: Backend } =
    require('@tensorflow/tfjs-node/dist/nodejs_kernel_backend.js') as typeof import('@tensorflow/tfjs-node/dist/nodejs_kernel_backend.js');
  if (tf.findBackend(ADDON_BACKEND) === null) {
    tf.registerBackend(ADDON_BACKEND, (): NodeJSKernelBackend => new Backend(binding, packageName));
  }
  await tf.setBackend(ADDON_BACKEND);
  return binding.TF_Version;
}

type LoadedBinding = TFJSBinding & { readonly TF_Version: string };

/** `native/host.cc`. */
interface HostAddon {
  silently<Result>(load: () => Result): Result;
  keepSignalsOffHeap(): void;
}

/** Null where it does not load. */
function findHost(path: string): HostAddon | null {
  try {
    return require(realpathSync(path)) as HostAddon;
  } catch {
    return null;
  }
}

/** The binary of an official package that is installed where Node resolves packages from, or null. */
export function findOfficialBinding(packageName: string): string | null {
  let directory: string;
  try {
    directory = dirname(
      require.resolve(`${packageName}/package.json`, { paths: [import.meta.dirname, process.cwd()] }),
    );
  } catch {
    return null;
  }
  const builds = join(directory, 'lib');
  const names = existsSync(builds) ? readdirSync(builds) : [];
  const paths = names.map((name) => join(builds, name, 'tfjs_binding.node'));
  return paths.find((path) => existsSync(path)) ?? null;
}

/** Adds the methods that tfjs-node's kernels of ArgMax, ArgMin, Exp and Prelu call; tfjs-core has functions only. */
function addTensorMethods(): void {
  const methods: Record<string, (tensor: tf.Tensor, other: tf.Tensor | number) => tf.Tensor> = {
    toInt: (tensor) => tf.cast(tensor, 'int32'),
    toFloat: (tensor) => tf.cast(tensor, 'float32'),
    add: (tensor, other) => tf.add(tensor, other),
    sub: (tensor, other) => tf.sub(tensor, other),
    mul: (tensor, other) => tf.mul(tensor, other),
  };
  for (const [name, method] of Object.entries(methods)) {
    Object.assign(tf.Tensor.prototype, {
      [name](this: tf.Tensor, other: tf.Tensor | number) {
        return method(this, other);
      },
    });
  }
}

/** Adds two functions to `util` that Node 23 removed and tfjs-node 4.22 calls. */
function restoreRemovedUtilities(): void {
  const legacy = util as unknown as Record<string, unknown>;
  legacy['isNullOrUndefined'] ??= (value: unknown): boolean => value === null || value === undefined;
  legacy['isArray'] ??= Array.isArray;
}
