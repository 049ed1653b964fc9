import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@retrace/process/free-port';
import { root } from './cli.mjs';
import { CLIENT, makePythonEnvironment } from './python-client.mjs';
import { startKillable, startPythonServer } from './python-server.mjs';
import { writeTinyModel } from './tiny-model.mjs';

const run = promisify(execFile);
const MAX_TOKENS = 1024;
const ENVIRONMENT = {
  VLLM_CPU_KVCACHE_SPACE: '1',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  HF_HUB_OFFLINE: '1',
  VLLM_NO_USAGE_STATS: '1',
};

/** How a server takes weights of a run: adapters, or all of them. */
export const TAKES_WEIGHTS = /** @type {const} */ ({
  adapters: {
    options: ['--enable-lora', '--max-lora-rank', '8', '--max-loras', '4'],
    variables: { VLLM_ALLOW_RUNTIME_LORA_UPDATING: 'True' },
  },
  'all weights': {
    options: ['--weight-transfer-config', '{"backend": "retrace_files"}', '--generation-config', 'vllm'],
    variables: { VLLM_SERVER_DEV_MODE: '1' },
  },
});

/**
 * @typedef {object} VllmServer
 * @property {string} url
 * @property {string} model directory
 * @property {(() => Promise<void>) | null} kill by SIGKILL; null where the server is not ours
 * @property {() => Promise<void>} startAgain at the same address, with the model that it had at first
 * @property {() => Promise<void>} stop
 */

/**
 * Starts a real vLLM with a tiny model, `tiny`, on the processor, with the plugin of `clients/python`. The first time it installs 3 GB of
 * packages. RETRACE_VLLM_URL names one that runs already, and RETRACE_VLLM_MODEL its model's directory.
 *
 * @param {{ readonly options?: readonly string[], readonly variables?: Readonly<Record<string, string>> }} [server] more of its options
 *   and environment variables
 * @returns {Promise<VllmServer | { unavailable: string }>} the reason completes "skipped, because …"
 */
export async function startVllm({ options: more = [], variables = {} } = {}) {
  const running = process.env.RETRACE_VLLM_URL;
  if (running) {
    const nothing = () => Promise.resolve();
    return {
      url: running,
      model: process.env.RETRACE_VLLM_MODEL ?? '',
      stop: nothing,
      kill: null,
      startAgain: nothing,
    };
  }
  const environment = await vllmPython();
  if ('unavailable' in environment) return environment;
  const { python } = environment;
  const model = await writeTinyModel(python);
  const plugin = makePlugin();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const options = [
    '--served-model-name',
    'tiny',
    '--dtype',
    'float32',
    '--max-model-len',
    String(MAX_TOKENS),
  ];
  // Equal requests get equal answers, to the last bit.
  const exact = ['--enforce-eager', '--no-enable-prefix-caching'];
  const start = () =>
    startPythonServer(
      python,
      [
        ...['-m', 'vllm.entrypoints.cli.main', 'serve', model, ...options, ...exact, ...more],
        ...['--host', '127.0.0.1', '--port', String(port)],
      ],
      { url, env: { ...process.env, ...ENVIRONMENT, ...variables, PYTHONPATH: plugin.path } },
    );
  return { url, model, ...(await startKillable(start, [model, plugin.directory])) };
}

/** A Python with vLLM, installed the first time. */
export function vllmPython() {
  return makePythonEnvironment('vllm-0.32.0', async (_, directory) => {
    await run('bash', [join(root, 'bench', 'peers', 'set-up-vllm.sh'), directory], {
      timeout: 1_800_000,
      maxBuffer: 64 * 1024 ** 2,
    });
  });
}

/** Lets a Python find the plugin in its sources, as an installed package would be found. */
function makePlugin() {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-vllm-plugin-'));
  const info = join(directory, 'retrace-0.dist-info');
  mkdirSync(info);
  writeFileSync(join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: retrace\nVersion: 0\n');
  writeFileSync(join(info, 'entry_points.txt'), '[vllm.general_plugins]\nretrace = retrace_vllm:register\n');
  return { directory, path: [directory, join(CLIENT, 'src')].join(delimiter) };
}
