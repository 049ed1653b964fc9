import type { ComputeEnvironment } from '../../compute-environment.js';
import { platformName, type TensorflowBuild } from '../installation.js';
import { downloadRequirements, downloadWheel } from '../wheels/download-wheel.js';
import {
  NVIDIA_DOWNLOAD_BYTES,
  NVIDIA_PLATFORMS,
  nvidiaRequirements,
} from '../wheels/nvidia-requirements.js';
import { type WheelPin, wheelPinFor } from '../wheels/wheel-pins.js';
import { compileAddon, testAddon, unpackNvidia, unpackTensorflow } from './build-addon.js';
import { type BuildTools, type CompileStep, findBuildTools } from './build-tools.js';
import { compileNativeOps, findNativeOps } from './native-ops.js';

export interface DownloadStep {
  readonly tools: BuildTools;
  readonly directory: string;
  readonly signal: AbortSignal | undefined;
  readonly onFraction: (fraction: number, message: string) => void;
}

export interface UnpackStep {
  readonly downloads: readonly string[];
  readonly directory: string;
  readonly onFraction: (fraction: number, message: string) => void;
}

/** The steps of an installation; `installWith` decides when and where they run, and that only one process runs them. */
export interface BuildSteps {
  /** @throws ComputeError `BACKEND_NOT_INSTALLABLE` in one sentence */
  findTools(): Promise<BuildTools>;
  /** Returns the files that `unpack` needs; files that exist already are not downloaded again. */
  download(step: DownloadStep): Promise<readonly string[]>;
  unpack(step: UnpackStep): Promise<void>;
  compile(step: CompileStep): Promise<void>;
  /** Computes with the built addon, in a process of its own. */
  test(directory: string): Promise<void>;
  /** Says whether a finished installation has Retrace's own ops. */
  hasOps(directory: string): boolean;
  /** Compiles Retrace's own ops into a finished installation. */
  compileOps(step: CompileStep): Promise<void>;
}

/** The steps for a build on this platform, or null where no wheel is pinned for it. */
export function buildStepsFor(
  { version, variant }: TensorflowBuild,
  { processor, variables }: ComputeEnvironment,
): BuildSteps | null {
  const pin = wheelPinFor(platformName(), variant, version);
  if (pin === null) return null;
  return {
    findTools: () => findBuildTools(variables),
    download: (step) => (variant === 'cuda' ? downloadWithCuda(pin, step) : downloadTensorflow(pin, 1, step)),
    unpack: unpackAll,
    compile: compileAddon,
    test: testAddon,
    // The ops run on processors, and tensors would have to leave the GPU for them.
    hasOps: (directory) => variant === 'cuda' || findNativeOps(directory, processor) !== null,
    compileOps: (step) => compileNativeOps(step, processor),
  };
}

/** @param share TensorFlow's part of all that is downloaded, 0 to 1 */
async function downloadTensorflow(
  pin: WheelPin,
  share: number,
  { tools, directory, signal, onFraction }: DownloadStep,
): Promise<string[]> {
  const message = `TensorFlow ${pin.version}, ${Math.round(pin.sizeBytes / 1e6)} MB`;
  const wheel = await downloadWheel(pin, {
    python: tools.python,
    directory,
    signal,
    onFraction: (fraction) => {
      onFraction(fraction * share, message);
    },
  });
  return [wheel];
}

async function downloadWithCuda(pin: WheelPin, step: DownloadStep): Promise<string[]> {
  const share = pin.sizeBytes / (pin.sizeBytes + NVIDIA_DOWNLOAD_BYTES);
  const [wheel] = await downloadTensorflow(pin, share, step);
  const nvidia = await downloadRequirements(
    await nvidiaRequirements(wheel),
    NVIDIA_PLATFORMS,
    NVIDIA_DOWNLOAD_BYTES,
    {
      python: step.tools.python,
      directory: step.directory,
      signal: step.signal,
      onFraction: (fraction) => {
        step.onFraction(share + fraction * (1 - share), 'CUDA libraries, 2.8 GB');
      },
    },
  );
  return [wheel, ...nvidia];
}

async function unpackAll({
  downloads: [wheel, ...nvidia],
  directory,
  onFraction,
}: UnpackStep): Promise<void> {
  const share = 1 / (1 + nvidia.length);
  await unpackTensorflow(wheel, directory, (fraction) => {
    onFraction(fraction * share, 'TensorFlow libraries and headers');
  });
  await unpackNvidia(nvidia, directory, (fraction) => {
    onFraction(share + fraction * (1 - share), 'CUDA libraries');
  });
}
