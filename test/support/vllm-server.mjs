import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '@retrace/process/free-port';
import { CLIENT, makePythonEnvironment } from './python-client.mjs';
import { root } from './cli.mjs';

const run = promisify(execFile);
const START_WITHIN_MS = 300_000;
const MAX_TOKENS = 1024;
const ENVIRONMENT = {
  VLLM_CPU_KVCACHE_SPACE: '1',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  HF_HUB_OFFLINE: '1',
  VLLM_NO_USAGE_STATS: '1',
};

/**
 * Starts a real vLLM with a tiny model, `tiny`, on the processor. The first time it installs 3 GB of packages. RETRACE_VLLM_URL names one
 * that runs already, and RETRACE_VLLM_MODEL its model's directory.
 *
 * @param {{ readonly options?: readonly string[], readonly variables?: Readonly<Record<string, string>> }} [server] more of its options
 *   and environment variables
 * @returns {Promise<{ url: string, model: string, stop: () => Promise<void> } | { unavailable: string }>} the reason completes "skipped, because …"
 */
export async function startVllm({ options: more = [], variables = {} } = {}) {
  const running = process.env.RETRACE_VLLM_URL;
  if (running) {
    return { url: running, model: process.env.RETRACE_VLLM_MODEL ?? '', stop: () => Promise.resolve() };
  }
  const environment = await makePythonEnvironment('vllm-0.32.0', async (_, directory) => {
    await run('bash', [join(root, 'bench', 'peers', 'set-up-vllm.sh'), directory], {
      timeout: 1_800_000,
      maxBuffer: 64 * 1024 ** 2,
    });
  });
  if ('unavailable' in environment) return environment;
  const { python } = environment;
  const directory = mkdtempSync(join(tmpdir(), 'retrace-vllm-'));
  const env = { ...process.env, ...ENVIRONMENT, ...variables, PYTHONPATH: join(CLIENT, 'tests', 'heavy') };
  await run(python, [join(root, 'test', 'support', 'vllm_model.py'), directory], { env });
  const port = await findFreePort();
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
  const child = spawn(
    python,
    [
      ...['-m', 'vllm.entrypoints.cli.main', 'serve', directory, ...options, ...exact, ...more],
      ...['--host', '127.0.0.1', '--port', String(port)],
    ],
    // A process group of its own: vLLM starts an engine process.
    { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('close', resolve));
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(-Number(child.pid), 'SIGKILL');
      await ended;
    }
    rmSync(directory, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_WITHIN_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    if (await isHealthy(url)) return { url, model: directory, stop };
    await sleep(1_000);
  }
  await stop();
  throw new Error(`vLLM did not start; it said last:\n${said}`);
}

/** @param {string} url */
async function isHealthy(url) {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}
