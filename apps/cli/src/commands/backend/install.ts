import { chosenTensorflowVersion, installBackend, parseTensorflowVersion } from '@retrace/compute';
import type { CommonOptions } from '../../options.js';
import { createLogStream } from '../../supervisor/log-stream.js';

export interface InstallOptions extends CommonOptions {
  readonly cuda?: true;
  readonly tensorflow?: string;
}

/** Installs a TensorFlow backend; progress goes to stderr, the result to stdout with `--json`. */
export async function install({ cuda, tensorflow, json }: InstallOptions): Promise<void> {
  const chosen = chosenTensorflowVersion();
  const version = tensorflow === undefined ? chosen : parseTensorflowVersion(tensorflow, '--tensorflow');
  const log = createLogStream({ json: json === true, out: process.stderr });
  const { manifest } = await installBackend({
    version,
    cuda: cuda === true,
    onProgress: ({ stage, message, fraction }) => {
      log.progress('backend', `${stage}: ${message}`, fraction);
    },
  });
  const { tensorflowVersion, variant, platform } = manifest;
  if (json === true) {
    console.log(JSON.stringify({ tensorflowVersion, variant, platform }));
    return;
  }
  const advice =
    version === chosen ? '' : `; set RETRACE_TENSORFLOW=${version} to use it instead of ${chosen}`;
  log.write({
    role: 'backend',
    level: 'info',
    message: `TensorFlow ${tensorflowVersion} (${variant}) is installed${advice}`,
  });
}
