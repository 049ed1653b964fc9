/** The servers that `proxy-latency.bench.mjs` compares: the model server itself, and proxies before it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeDataDirectory, startRetrace } from '../test/support/cli.mjs';

const START_WITHIN_MS = 120_000;
/** No downloads, no logging, and no key: what costs it the least. */
const LITELLM_ENVIRONMENT = {
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  LITELLM_LOG: 'ERROR',
  LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true',
};

/** Starts the model server. */
export async function startUpstream() {
  const script = fileURLToPath(new URL('proxy-upstream.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { value: port } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill('SIGKILL') };
}

/** Starts Retrace, for the proxies to record in. */
export async function startRecording() {
  const data = makeDataDirectory();
  const session = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', data.path]);
  const stop = async () => {
    await session.killTree();
    data.remove();
  };
  try {
    return { url: await session.untilServing(START_WITHIN_MS), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts `retrace proxy`. */
export async function startProxy({ upstream, kind, retrace }) {
  const data = makeDataDirectory();
  const session = startRetrace([
    ...['proxy', '--upstream', upstream, '--upstream-kind', kind, '--port', '0'],
    ...['--retrace', retrace, '--state', data.path],
  ]);
  const stop = async () => {
    await session.stop('SIGTERM');
    data.remove();
  };
  return { url: await session.waitFor(/ at (http:\S+)\/v1/, START_WITHIN_MS), stop };
}

/**
 * Starts LiteLLM's proxy with one worker, its default, without a database or any logging of its own.
 *
 * @param {string} command path of `litellm`
 */
export async function startLiteLlm(command, upstream) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-litellm-'));
  const config = join(directory, 'config.json');
  const model = { model: 'openai/bench', api_base: `${upstream}/v1`, api_key: 'none' };
  // YAML holds JSON.
  writeFileSync(config, JSON.stringify({ model_list: [{ model_name: 'bench', litellm_params: model }] }));
  const port = await freePort();
  const child = spawn(command, ['--config', config, '--host', '127.0.0.1', '--port', String(port)], {
    stdio: 'ignore',
    env: { ...process.env, ...LITELLM_ENVIRONMENT },
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = () => {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  const deadline = performance.now() + START_WITHIN_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    if (await isReady(`${url}/health/liveliness`)) return { url, stop };
    await sleep(500);
  }
  stop();
  throw new Error(
    `${command} was not ready within ${START_WITHIN_MS / 1000} s, or exited (${child.exitCode})`,
  );
}

async function isReady(url) {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
