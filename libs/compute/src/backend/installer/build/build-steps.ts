import { compileAddon, testAddon, unpackNvidia, unpackTensorflow } from './build-addon.js';
import type { BuildTools } from './build-tools.js';
import { findBuildTools } from './build-tools.js';
import { downloadRequirements, downloadWheel } from '../wheels/download-wheel.js';
import { platformName } from '../installation.js';
import type { TensorflowBuild } from '../installation.js';
import { findNativeOps, compileNativeOps } from './native-ops.js';
import {
  NVIDIA_DOWNLOAD_BYTES,
  NVIDIA_PLATFORMS,
  nvidiaRequirements,
} from '../wheels/nvidia-requirements.js';
import type { WheelPin } from '../wheels/wheel-pins.js';
import { wheelPinFor } from '../wheels/wheel-pins.js';

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

export interface CompileStep {
  readonly tools: BuildTools;
  readonly directory: string;
  readonly signal: AbortSignal | undefined;
}

/** What an installation does, apart from when, where, and that nobody else does it at the same time. */
export interface BuildSteps {
  /** @throws ComputeError `BACKEND_NOT_INSTALLABLE` in one sentence */
  findTools(environment: NodeJS.ProcessEnv | undefined): Promise<BuildTools>;
  /** Returns the files that `unpack` needs; files that are there already are not downloaded again. */
  download(step: DownloadStep): Promise<readonly string[]>;
  unpack(step: UnpackStep): Promise<void>;
  compile(step: CompileStep): Promise<void>;
  /** Computes with what was built, in a process of its own. */
  test(directory: string): Promise<void>;
  /** Whether a finished installation has Retrace's own ops. */
  hasOps(directory: string): boolean;
  /** Compiles Retrace's own ops into a finished installation. */
  compileOps(step: CompileStep): Promise<void>;
}

/** The steps for a build on this platform, or null where no wheel is pinned for it. */
export function buildStepsFor({ version, variant }: TensorflowBuild): BuildSteps | null {
  const pin = wheelPinFor(platformName(), variant, version);
  if (pin === null) return null;
  return {
    findTools: findBuildTools,
    download: (step) => (variant === 'cuda' ? downloadWithCuda(pin, step) : downloadTensorflow(pin, 1, step)),
    unpack: unpackAll,
    compile: ({ directory, tools, signal }) => compileAddon(directory, tools, signal),
    test: testAddon,
    // On a GPU tensors would have to leave it for ops that run on processors.
    hasOps: (directory) => variant === 'cuda' || findNativeOps(directory) !== null,
    compileOps: ({ directory, tools, signal }) => compileNativeOps(directory, tools, signal),
  };
}

/** @param share of the whole download that is TensorFlow */
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
