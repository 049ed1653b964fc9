import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import util from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import type { NodeJSKernelBackend } from '@tensorflow/tfjs-node/dist/nodejs_kernel_backend.js';
import type { TFJSBinding } from '@tensorflow/tfjs-node/dist/tfjs_binding.js';

const require = createRequire(import.meta.url);

/** Name under which tfjs knows every backend that runs through the addon. */
export const ADDON_BACKEND = 'tensorflow';

let hasNativeOps = false;

/** Whether Retrace's own fused ops are part of the TensorFlow that runs. */
export function nativeOpsAreLoaded(): boolean {
  return hasNativeOps;
}

/** Adds Retrace's own ops to the loaded TensorFlow; a file that doesn't load leaves it without them. */
export function loadNativeOps(path: string): void {
  if (hasNativeOps) return;
  try {
    require(realpathSync(path));
    hasNativeOps = true;
  } catch {
    // Every op has a form that is composed of TensorFlow's own.
  }
}

/**
 * Loads an addon by its path and makes it the running backend. tfjs-node's own entry point would look for its binary
 * with node-pre-gyp, so its kernels and backend class are registered here instead. Returns TensorFlow's version.
 *
 * A process can load one addon. Throws what the dynamic linker says.
 *
 * @param quietPath the addon under which the load says nothing on standard error; null leaves TensorFlow's greeting
 */
export async function activateAddon(
  bindingPath: string,
  packageName: string,
  quietPath: string | null = null,
): Promise<string> {
  // Once the libraries are loaded these are no longer read. What the user has set stays.
  const isVerbose = process.env['TF_CPP_MIN_LOG_LEVEL'] !== undefined;
  process.env['TF_CPP_MIN_LOG_LEVEL'] ??= '2';
  process.env['TF_FORCE_GPU_ALLOW_GROWTH'] ??= 'true';
  restoreRemovedUtilities();
  const load = (): LoadedBinding => require(realpathSync(bindingPath)) as LoadedBinding;
  const binding = quietPath === null || isVerbose ? load() : silently(quietPath, load);
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

/** What TensorFlow's static initialisers log can't be turned off by any variable. */
function silently<Result>(quietPath: string, load: () => Result): Result {
  let quiet: { silently(load: () => Result): Result };
  try {
    quiet = require(realpathSync(quietPath)) as typeof quiet;
  } catch {
    return load();
  }
  return quiet.silently(load);
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

/** The methods of tensors that tfjs-node's kernels of ArgMax, ArgMin, Exp and Prelu call; tfjs-core has only functions. */
function addTensorMethods(): void {
  Object.assign(tf.Tensor.prototype, {
    toInt(this: tf.Tensor) {
      return tf.cast(this, 'int32');
    },
    toFloat(this: tf.Tensor) {
      return tf.cast(this, 'float32');
    },
    add(this: tf.Tensor, other: tf.Tensor | number) {
      return tf.add(this, other);
    },
    sub(this: tf.Tensor, other: tf.Tensor | number) {
      return tf.sub(this, other);
    },
    mul(this: tf.Tensor, other: tf.Tensor | number) {
      return tf.mul(this, other);
    },
  });
}

/** Node 23 took two functions out of `util` that tfjs-node 4.22 calls. */
function restoreRemovedUtilities(): void {
  const legacy = util as unknown as Record<string, unknown>;
  legacy['isNullOrUndefined'] ??= (value: unknown): boolean => value === null || value === undefined;
  legacy['isArray'] ??= Array.isArray;
}
