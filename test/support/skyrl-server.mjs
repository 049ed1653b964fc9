import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@retrace/process/free-port';
import { root } from './cli.mjs';
import { makePythonEnvironment, pipInstall } from './python-client.mjs';
import { startKillable, startPythonServer } from './python-server.mjs';
import { writeTinyModel } from './tiny-model.mjs';
import { installTorch } from './torch-environment.mjs';

const run = promisify(execFile);
const VERSION = '0.3.0';
const BACKEND = {
  max_lora_adapters: 12,
  max_lora_rank: 8,
  sample_max_num_sequences: 8,
  train_micro_batch_size: 8,
};
const ENVIRONMENT = {
  JAX_PLATFORMS: 'cpu',
  OMP_NUM_THREADS: '1',
  XLA_FLAGS: '--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1',
  HF_HUB_OFFLINE: '1',
  TOKENIZERS_PARALLELISM: 'false',
};

/**
 * @typedef {object} SkyrlServer
 * @property {string} url
 * @property {string} model directory of its base model
 * @property {(() => Promise<void>) | null} kill all its processes, by SIGKILL; null where the server is not ours
 * @property {() => Promise<void>} startAgain at the same address, with what it had on disk
 * @property {() => Promise<void>} stop
 */

/**
 * Starts SkyRL's real server of the Tinker API with a tiny Qwen3 on the processor. The first time it installs 2 GB of packages. RETRACE_SKYRL_SOURCE names a
 * checkout of SkyRL to take in place of the published version; RETRACE_SKYRL_URL a server that runs already, and RETRACE_SKYRL_MODEL its model's directory.
 *
 * @returns {Promise<SkyrlServer | { unavailable: string }>} the reason completes "skipped, because …"
 */
export async function startSkyrl() {
  const { RETRACE_SKYRL_URL: running, RETRACE_SKYRL_MODEL: ofRunning = '' } = process.env;
  if (running) {
    const nothing = () => Promise.resolve();
    return { url: running, model: ofRunning, kill: null, startAgain: nothing, stop: nothing };
  }
  const environment = await skyrlPython();
  if ('unavailable' in environment) return environment;
  const { python } = environment;
  const model = await writeTinyModel(python, 'qwen3');
  const files = mkdtempSync(join(tmpdir(), 'retrace-skyrl-'));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const { RETRACE_SKYRL_SOURCE: source } = process.env;
  const env = { ...process.env, ...ENVIRONMENT, ...(source ? { PYTHONPATH: source } : {}) };
  const start = () =>
    startPythonServer(
      python,
      [
        join(root, 'test', 'support', 'skyrl_server.py'),
        ...['--base-model', model, '--backend', 'jax', '--backend-config', JSON.stringify(BACKEND)],
        ...['--checkpoints-base', join(files, 'checkpoints')],
        ...['--database-url', `sqlite:///${join(files, 'tinker.db')}`, '--port', String(port)],
      ],
      { url, env, path: '/api/v1/healthz' },
    );
  return { url, model, ...(await startKillable(start, [model, files])) };
}

/** A Python with SkyRL and JAX, installed the first time. */
function skyrlPython() {
  return makePythonEnvironment(`skyrl-${VERSION}`, async (python, directory) => {
    // peft, which reads and writes adapters there, wants torch.
    await installTorch(python, directory);
    await pipInstall(python, [`skyrl[jax,tinker]==${VERSION}`, 'tinker==0.25.0']);
    await run(python, ['-c', 'import jax, peft, skyrl']);
  });
}
