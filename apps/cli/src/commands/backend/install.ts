import {
  installBackend,
  installWebGpu,
  type OnInstallProgress,
  parseTensorflowVersion,
  readComputeEnvironment,
} from '@retrace/compute';
import type { CommonOptions } from '../../options.js';
import { createLogStream } from '../../supervisor/log-stream.js';

interface InstallOptions extends CommonOptions {
  readonly cuda?: true;
  readonly tensorflow?: string;
  readonly webgpu?: true;
}

/** Installs TensorFlow, or WebGPU with `--webgpu`; progress goes to stderr, the result to stdout with `--json`. */
export async function install({ webgpu, cuda, tensorflow, json }: InstallOptions): Promise<void> {
  const log = createLogStream({ json: json === true, out: process.stderr });
  const onProgress: OnInstallProgress = ({ stage, message, fraction }) => {
    log.progress('backend', `${stage}: ${message}`, fraction);
  };
  const { result, message } =
    webgpu === true
      ? await installedWebGpu(onProgress)
      : await installedTensorflow({ cuda, tensorflow }, onProgress);
  if (json === true) console.log(JSON.stringify(result));
  else log.write({ role: 'backend', level: 'info', message });
}

interface Installed {
  /** Printed with `--json`. */
  readonly result: object;
  readonly message: string;
}

async function installedTensorflow(
  { cuda, tensorflow }: Pick<InstallOptions, 'cuda' | 'tensorflow'>,
  onProgress: OnInstallProgress,
): Promise<Installed> {
  const { tensorflowVersion: chosen } = readComputeEnvironment();
  const version = tensorflow === undefined ? chosen : parseTensorflowVersion(tensorflow, '--tensorflow');
  const { manifest } = await installBackend({ version, cuda: cuda === true, onProgress });
  const { tensorflowVersion, variant, platform } = manifest;
  const advice =
    version === chosen ? '' : `; set RETRACE_TENSORFLOW=${version} to use it instead of ${chosen}`;
  return {
    result: { tensorflowVersion, variant, platform },
    message: `TensorFlow ${tensorflowVersion} (${variant}) is installed${advice}`,
  };
}

async function installedWebGpu(onProgress: OnInstallProgress): Promise<Installed> {
  const { directory } = await installWebGpu({ onProgress });
  return { result: { directory }, message: `WebGPU is installed in ${directory}` };
}
