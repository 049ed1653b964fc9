import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { openBackend } from '@retrace/compute';
import { openLog } from '@retrace/log';
import { readVariables, type DataDirectory, type Supervised } from '@retrace/process';
import { startProxy, type CallRefusal, type ProxyConfig } from '@retrace/gateway/proxy';
import { KeyGuard, RequestError } from '@retrace/gateway/serve';
import { CliError } from '../cli-error.js';
import { isRefusal } from '../run/refusal.js';
import { upstreamCommand } from '../commands/proxy/command.js';
import { openTokenizer, upstreamConfig } from '../commands/proxy/serve-proxy.js';
import { CREATED_BY } from '../installation.js';
import { LOOPBACK } from '../roles/role-definitions.js';
import { openCheckpoints } from '../services/checkpoints.js';
import { commandEnvironment, dataDirectoryAt, locateKeys, locateLog } from '../data-directory/environment.js';
import { AGENTS_RUN, namesUpstream } from '../roles/agents-run.js';
import { LogPolicies } from './log-policies.js';
import { PolicyServers } from './policy-servers.js';

const SILENCE_MS = 600_000;
const IDLE_MS = 30 * 60_000;
const MAX_BODY_BYTES = 32 * 1024 ** 2;

interface OpenPoliciesOptions {
  readonly directory: DataDirectory;
  readonly keys: KeyGuard;
  readonly warn: (message: string) => void;
}

/**
 * Records the calls of agents until asked to stop. They are passed on to the model server that `RETRACE_PROXY_UPSTREAM` names, with the other variables of
 * `retrace proxy` about it, or else to the policies of this data directory.
 *
 * @throws CliError `DATA_DIRECTORY_UNUSABLE` where no server runs on the data directory; GatewayError
 */
export async function runAgentProxy(supervised: Supervised): Promise<void> {
  const { RETRACE_DATA_DIR: path, RETRACE_AGENTS_KEY: ownKey = null } = readVariables(commandEnvironment, {
    reads: ['RETRACE_AGENTS_KEY'],
    requires: ['RETRACE_DATA_DIR'],
  });
  const directory = dataDirectoryAt(path);
  const server = directory.runningServer();
  if (server === null)
    throw new CliError('DATA_DIRECTORY_UNUSABLE', `data directory ${path}: no server runs on it`);
  const warn = (message: string) => {
    supervised.warn(message, 'warning');
  };
  const keys = new KeyGuard({
    ...{ host: LOOPBACK, keyDirectory: locateKeys(directory), ownKey },
    // A call is recorded.
    ...{ scope: 'ingest', onWarning: warn },
  });
  const policies = namesUpstream() ? null : await openPolicies({ directory, keys, warn });
  const upstream = policies === null ? namedUpstream() : policiesAt(policies.url);
  const proxy = await startProxy(
    {
      ...upstream,
      ...{ host: LOOPBACK, port: 0, allowedHosts: [], allowedHostsOption: null, run: AGENTS_RUN },
      ...{ retraceUrl: server.apiUrl, retraceKey: ownKey, stateDirectory: directory.agents },
      ...{ idleMs: IDLE_MS, maxBodyBytes: MAX_BODY_BYTES },
      // For another model server, agents send the keys of that one.
      ...(policies !== null && { refusalOf: (headers: IncomingHttpHeaders) => findRefusal(keys, headers) }),
    },
    { warn, openTokenizer },
  );
  const named = policies === null ? upstream.upstream : 'the policies';
  supervised.send({ type: 'ready', url: proxy.url, detail: `calls pass to ${named}` });
  if (!supervised.signal.aborted) await once(supervised.signal, 'abort');
  await proxy.close();
  await policies?.close();
}

async function findRefusal(keys: KeyGuard, headers: IncomingHttpHeaders): Promise<CallRefusal | null> {
  try {
    await keys.check(headers);
    return null;
  } catch (error) {
    if (error instanceof RequestError) return { status: error.status, body: error.body };
    throw error;
  }
}

/** The model server of the environment. @throws GatewayError `OPTION_INVALID`; CommanderError for a variable with a wrong value */
function namedUpstream(): ReturnType<typeof upstreamConfig> {
  const options = upstreamCommand().exitOverride().parse([], { from: 'user' }).opts();
  return upstreamConfig(options, commandEnvironment);
}

function policiesAt(upstream: string) {
  return {
    ...{ upstream, upstreamKind: null, upstreamKey: null },
    ...{ upstreamTimeoutMs: SILENCE_MS, logprobMode: null },
  } satisfies Partial<ProxyConfig>;
}

/** Loads the newest policy, too, as the proxy asks soon for its tokenizer. Without one, calls are answered with 404 until there is one. */
async function openPolicies({ directory, keys, warn }: OpenPoliciesOptions): Promise<PolicyServers> {
  await openBackend();
  const policies = new LogPolicies({
    log: await openLog(locateLog(directory), CREATED_BY),
    checkpoints: openCheckpoints(directory),
    maxBodyBytes: MAX_BODY_BYTES,
    warn,
  });
  try {
    const newest = await policies.use(null).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      warn(`agents: ${error.message}; calls are answered with 404 until there is one`);
      return null;
    });
    newest?.release();
    return await PolicyServers.listen({ policies, keys, maxBodyBytes: MAX_BODY_BYTES });
  } catch (error) {
    await policies.close();
    throw error;
  }
}
