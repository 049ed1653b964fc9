import { once } from 'node:events';
import { openBackend } from '@retrace/compute';
import { openLog } from '@retrace/log';
import { readVariables, type Supervised } from '@retrace/process';
import { startProxy, type ProxyConfig } from '@retrace/proxy';
import { CliError } from '../cli-error.js';
import { CREATED_BY } from '../installation.js';
import { checkpointsOf } from '../services/checkpoints.js';
import { commandEnvironment, dataDirectoryAt, keyDirectoryOf, logOf } from '../services/environment.js';
import { AGENTS_RUN } from './agents-run.js';
import { PolicyServers } from './policy-servers.js';

const SILENCE_MS = 600_000;
const IDLE_MS = 30 * 60_000;
const MAX_BODY_BYTES = 32 * 1024 ** 2;

/**
 * Records the calls of agents until asked to stop. They are passed on to the model server that `RETRACE_PROXY_UPSTREAM` names, or else to the policies of this
 * data directory.
 *
 * @throws CliError `DATA_DIRECTORY_UNUSABLE` where no server runs on the data directory; ProxyError
 */
export async function runAgentProxy(supervised: Supervised): Promise<void> {
  const { RETRACE_DATA_DIR: path } = readVariables(commandEnvironment, { requires: ['RETRACE_DATA_DIR'] });
  const directory = dataDirectoryAt(path);
  const server = directory.runningServer();
  if (server === null)
    throw new CliError('DATA_DIRECTORY_UNUSABLE', `data directory ${path}: no server runs on it`);
  const warn = (message: string) => {
    supervised.warn(message, 'warning');
  };
  const named = commandEnvironment.RETRACE_PROXY_UPSTREAM ?? '';
  const policies = named === '' ? await openPolicies(path, warn) : null;
  const upstream = policies?.url ?? named;
  const proxy = await startProxy(
    proxyConfig({ upstream, retraceUrl: server.apiUrl, stateDirectory: directory.agents }),
    { warn },
  );
  supervised.send({
    type: 'ready',
    url: proxy.url,
    detail: `calls pass to ${named === '' ? 'the policies' : named}`,
  });
  if (!supervised.signal.aborted) await once(supervised.signal, 'abort');
  await proxy.close();
  await policies?.close();
}

type PlacedProxy = Pick<ProxyConfig, 'upstream' | 'retraceUrl' | 'stateDirectory'>;

function proxyConfig(placed: PlacedProxy): ProxyConfig {
  return {
    ...placed,
    ...{ host: '127.0.0.1', port: 0, allowedHosts: [], run: AGENTS_RUN },
    ...{ upstreamKind: null, upstreamKey: null, upstreamTimeoutMs: SILENCE_MS },
    retraceKey: commandEnvironment.RETRACE_API_KEY ?? null,
    ...{ idleMs: IDLE_MS, maxBodyBytes: MAX_BODY_BYTES, logprobMode: null },
  };
}

async function openPolicies(path: string, warn: (message: string) => void): Promise<PolicyServers> {
  const directory = dataDirectoryAt(path);
  await openBackend();
  const policies = await PolicyServers.listen({
    log: await openLog(logOf(directory), CREATED_BY),
    checkpoints: checkpointsOf(directory),
    keyDirectory: keyDirectoryOf(directory),
    warn,
  });
  try {
    await policies.openNewest();
    return policies;
  } catch (error) {
    await policies.close();
    throw error;
  }
}
