import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { BACKEND_NAMES, type BackendName, ORDER_OF_CHOICE } from './backend.js';
import { ComputeError } from './compute-error.js';
import { chosenProcessor, type Processor } from './installer/build/processor.js';
import {
  DEFAULT_TENSORFLOW_VERSION,
  parseTensorflowVersion,
  type TensorflowVersion,
} from './installer/wheels/tensorflow-version.js';

/** The environment variables that choose a backend and say where backends are installed. */
export interface ComputeEnvironment {
  /** Directory of everything that is installed: `$XDG_CACHE_HOME/retrace`, by default `~/.cache/retrace`. */
  readonly cacheDirectory: string;
  /** The backends to try: the one that RETRACE_BACKEND names, by default all in the order of choice. */
  readonly backends: readonly BackendName[];
  /** The version to install and open: RETRACE_TENSORFLOW. Another installed version never takes its place. */
  readonly tensorflowVersion: TensorflowVersion;
  /** The processor that Retrace's own ops are compiled for: RETRACE_PROCESSOR. */
  readonly processor: Processor;
  /** The NVIDIA GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them. */
  readonly gpus: readonly string[];
  /** Whether VK_ICD_FILENAMES or VK_DRIVER_FILES names a graphics driver. */
  readonly namesVulkanDriver: boolean;
  /** Whether WebGPU may compute on the processor, for tests: RETRACE_WEBGPU_SOFTWARE is `on`. */
  readonly allowsSoftwareWebGpu: boolean;
  /** All variables, for the search for build tools. */
  readonly variables: Readonly<NodeJS.ProcessEnv>;
}

/**
 * Reads the environment, by default that of this process. A variable that is set to nothing counts as not set.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` where RETRACE_BACKEND, RETRACE_TENSORFLOW or RETRACE_PROCESSOR has a value
 *   that is not allowed on this machine.
 */
export function readComputeEnvironment(variables: NodeJS.ProcessEnv = process.env): ComputeEnvironment {
  const valueOf = (name: string) => (variables[name] === '' ? undefined : variables[name]);
  const version = valueOf('RETRACE_TENSORFLOW') ?? DEFAULT_TENSORFLOW_VERSION;
  return {
    cacheDirectory: join(valueOf('XDG_CACHE_HOME') ?? join(homedir(), '.cache'), 'retrace'),
    backends: chosenBackends(valueOf('RETRACE_BACKEND')),
    tensorflowVersion: parseTensorflowVersion(version, 'RETRACE_TENSORFLOW'),
    processor: chosenProcessor(valueOf('RETRACE_PROCESSOR')),
    gpus: visibleGpus(variables['CUDA_VISIBLE_DEVICES']),
    namesVulkanDriver: (valueOf('VK_ICD_FILENAMES') ?? valueOf('VK_DRIVER_FILES')) !== undefined,
    allowsSoftwareWebGpu: valueOf('RETRACE_WEBGPU_SOFTWARE') === 'on',
    variables,
  };
}

function chosenBackends(named: string | undefined): readonly BackendName[] {
  if (named === undefined) return ORDER_OF_CHOICE;
  const known = BACKEND_NAMES.find((name) => name === named);
  if (known !== undefined) return [known];
  throw new ComputeError(
    'BACKEND_UNAVAILABLE',
    `RETRACE_BACKEND is ${JSON.stringify(named)}; it must be one of ${BACKEND_NAMES.join(', ')}`,
  );
}

/** @param named value of CUDA_VISIBLE_DEVICES; '' and -1 hide all GPUs */
function visibleGpus(named: string | undefined): string[] {
  const hasDriver = existsSync('/dev/nvidiactl') || existsSync('/dev/dxg');
  if (!hasDriver || /^\s*(-1|$)/.test(named ?? '0')) return [];
  if (named !== undefined) return named.split(',').map((device) => device.trim());
  const numDevices = readdirSync('/dev').filter((name) => /^nvidia\d+$/.test(name)).length;
  return Array.from({ length: Math.max(1, numDevices) }, (_, device) => `${device}`);
}
