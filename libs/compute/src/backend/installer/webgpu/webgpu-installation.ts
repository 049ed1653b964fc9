import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { platformName } from '../installation.js';

/** One version of a package of the npm registry, by content. */
export interface PackagePin {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

/** Dawn, Chromium's WebGPU, for Node. */
export const DAWN: PackagePin = {
  name: 'webgpu',
  version: '0.6.2',
  integrity:
    'sha512-3L4GfmqJLvYUIEWJngEQY+2HQiUlAFkg8+P8NDDj3Xx5hHHIFO/r8JW+ynfqBj7kHN4mbnwO74uB+lrRtLhp4Q==',
};

/** TensorFlow.js's kernels for WebGPU; their version is that of tfjs-core. */
export const WEBGPU_KERNELS: PackagePin = {
  name: '@tensorflow/tfjs-backend-webgpu',
  version: '4.22.0',
  integrity:
    'sha512-lvIc7Af4Tl2BCdYp43iQmSCRq3asaKT0q2xaErphXiUZ+jqeB0bQa0ZvQys1Xatvto0U4/c90DVsHPfvkn5ftg==',
};

/** The folder of Dawn's package with the binary for this platform. */
export const DAWN_BINARY_FOLDER = `dist/${process.platform === 'darwin' ? 'darwin-universal' : platformName()}`;
export const KERNELS_FILE = 'dist/tf-backend-webgpu.node.js';

export interface WebGpuInstallation {
  readonly directory: string;
  /** An ES module that exports `create` and `globals`. */
  readonly dawnPath: string;
  /** A CommonJS file that requires only `@tensorflow/tfjs-core`. */
  readonly kernelsPath: string;
}

/** The start of the directory names of all installations of WebGPU. */
export const WEBGPU_PREFIX = 'webgpu-';

export function webgpuDirectory(cacheDirectory: string): string {
  const name = `${WEBGPU_PREFIX}${DAWN.version}-${platformName()}-tfjs-${WEBGPU_KERNELS.version}`;
  return join(cacheDirectory, 'backends', name);
}

/** The paths inside a directory that holds both packages. */
export function webgpuFiles(directory: string): WebGpuInstallation {
  return {
    directory,
    dawnPath: join(directory, 'dawn', 'index.js'),
    kernelsPath: join(directory, 'kernels', KERNELS_FILE),
  };
}

/** The finished installation of WebGPU, or null. */
export function findWebGpu(cacheDirectory: string): WebGpuInstallation | null {
  const installation = webgpuFiles(webgpuDirectory(cacheDirectory));
  const { dawnPath, kernelsPath } = installation;
  return existsSync(dawnPath) && existsSync(kernelsPath) ? installation : null;
}
