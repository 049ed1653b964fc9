import { ServingEngine } from './engine/serving-engine.js';
import type { ServeConfig } from './serve-config.js';
import { GatewayError } from '../http/gateway-error.js';
import type { RunningGateway } from '../http/gateway-server.js';
import { ServeServer } from './server/serve-server.js';
import type { PolicySupply } from './supply/policy-supply.js';

/** A server that runs; `close` closes the supply, too. */
export interface RunningServer extends RunningGateway {
  readonly contextLength: number;
}

interface ServeHooks {
  /** Name and version of the program, for `/version`. */
  readonly version: string;
  readonly warn: (message: string) => void;
}

/** Longest context without `contextLength`: the cache of keys and values is as long for each answer. */
const DEFAULT_CONTEXT = 4096;

/**
 * Starts a server of a policy. A compute backend must be open.
 *
 * @throws GatewayError
 */
export async function startServer(
  config: ServeConfig,
  supply: PolicySupply,
  { version, warn }: ServeHooks,
): Promise<RunningServer> {
  const contextLength = resolveContextLength(config, supply);
  const { concurrency, maxQueued, logprobsMode } = config;
  const engine = new ServingEngine(
    supply,
    { concurrency, maxQueued, logprobsMode, maxTokens: contextLength },
    warn,
  );
  const server = new ServeServer({ config, supply, engine, contextLength, version, warn });
  const running = await server.listen(async () => {
    await engine.close();
    await supply.close();
  });
  return { ...running, contextLength };
}

function resolveContextLength({ contextLength }: ServeConfig, { maxTokens, name }: PolicySupply): number {
  if (contextLength === null) return Math.min(maxTokens, DEFAULT_CONTEXT);
  if (contextLength <= maxTokens) return contextLength;
  throw new GatewayError(
    'OPTION_INVALID',
    `The context length is ${contextLength}; "${name}" has contexts of at most ${maxTokens} tokens`,
  );
}
