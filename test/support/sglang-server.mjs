import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@retrace/process/free-port';
import { root } from './cli.mjs';
import { makePythonEnvironment } from './python-client.mjs';
import { startPythonServer } from './python-server.mjs';
import { writeTinyModel } from './tiny-model.mjs';

const run = promisify(execFile);
/** SGLang without its own kernels, which have no wheel for processors: everything is computed by torch. */
const NATIVE = [
  ...['--device', 'cpu', '--dtype', 'float32', '--attention-backend', 'torch_native'],
  ...['--sampling-backend', 'pytorch', '--grammar-backend', 'none', '--disable-cuda-graph'],
];
// The fraction leaves room for what other processes take of this machine's memory meanwhile: SGLang takes that for its own.
const SMALL = ['--max-total-tokens', '40000', '--mem-fraction-static', '0.5', '--context-length', '1024'];

/**
 * Starts a real SGLang with a tiny model on the processor. The first time it installs 3 GB of packages. RETRACE_SGLANG_URL names one that
 * runs already, and RETRACE_SGLANG_MODEL its model's directory.
 *
 * @param {{ readonly variables?: Readonly<Record<string, string>> }} [server] more environment variables
 * @returns {Promise<{ url: string, model: string, stop: () => Promise<void> } | { unavailable: string }>} the reason completes "skipped, because …"
 */
export async function startSglang({ variables = {} } = {}) {
  const running = process.env.RETRACE_SGLANG_URL;
  if (running) {
    return { url: running, model: process.env.RETRACE_SGLANG_MODEL ?? '', stop: () => Promise.resolve() };
  }
  const environment = await makePythonEnvironment('sglang-0.5.23', async (_, directory) => {
    await run('bash', [join(root, 'bench', 'peers', 'set-up-sglang.sh'), directory], {
      timeout: 1_800_000,
      maxBuffer: 64 * 1024 ** 2,
    });
  });
  if ('unavailable' in environment) return environment;
  const { python } = environment;
  const model = await writeTinyModel(python);
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const stop = await startPythonServer(
    python,
    [
      ...['-m', 'sglang.launch_server', '--model-path', model, ...NATIVE, ...SMALL],
      ...['--skip-server-warmup', '--host', '127.0.0.1', '--port', String(port)],
    ],
    {
      url,
      env: { ...process.env, SGLANG_USE_CPU_ENGINE: '1', HF_HUB_OFFLINE: '1', ...variables },
    },
  );
  return {
    url,
    model,
    stop: async () => {
      await stop();
      rmSync(model, { recursive: true, force: true });
    },
  };
}
