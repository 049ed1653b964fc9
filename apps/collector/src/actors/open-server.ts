import type { LogprobMode, WeightServerKind } from '@retrace/chat';
import {
  endpointUrls,
  hasAdapters,
  type EndpointRecipe,
  type PolicyRecipe,
  type Recipe,
} from '@retrace/config';
import {
  openTokenEngine,
  openWeightDelivery,
  ServiceClient,
  type EngineOptions,
  type TokenEngine,
  type WeightDelivery,
} from '@retrace/endpoints';
import { findFreePort } from '@retrace/process/free-port';
import { CollectorError } from '../collector-error.js';
import { StartedServer } from './started-server.js';

const TIMEOUT_MS = 120_000;
const MAX_RETRIES = 3;
const START_TIMEOUT_MS = 600_000;
/** Pause before a server that counts as down is asked again. */
const DOWN_PAUSE_MS = 2_000;

/** Deliveries and questions do not wait for a turn to end. */
const NUM_OTHER_REQUESTS = 2;

/** A server that samples, and the way in which policies reach it. */
export interface OpenedServer {
  readonly url: string;
  readonly engine: TokenEngine;
  readonly delivery: WeightDelivery;
  /** Whether it runs only from its first policy on. */
  readonly isStartedHere: boolean;
  /** Of which distribution its logprobs are; null where only the server tells. */
  readonly logprobMode: LogprobMode | null;
  /** Ends what was started here. */
  readonly close: () => Promise<void>;
}

interface ServerOptions {
  readonly recipe: Recipe;
  readonly endpoint: EndpointRecipe;
  readonly policy: PolicyRecipe;
  /** The collector's environment, which holds the API key. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly warn: (message: string) => void;
  /** Called each time that a server goes down, with the reason. */
  readonly onDown: (url: string, reason: string) => void;
}

/** Opens the servers that a recipe names, or makes ready to start them. @throws CollectorError `INVALID_SETTING` */
export async function openServers(options: ServerOptions): Promise<readonly OpenedServer[]> {
  const { kind, command, numServers = 1 } = options.endpoint;
  if (kind === 'tinker') return [await openTinker(options)];
  const named = endpointUrls(options.endpoint).map((url) => openService(kind, { url, port: null }, options));
  if (command === undefined) return named;
  const ports = new Set<number>();
  while (ports.size < numServers) ports.add(await findFreePort());
  return Array.from(ports, (port) => openService(kind, { url: `http://127.0.0.1:${port}`, port }, options));
}

async function openTinker({ recipe }: ServerOptions): Promise<OpenedServer> {
  // Only these runs load the client.
  const { TinkerSampler } = await import('./tinker-sampler.js');
  const sampler = await TinkerSampler.open(recipe);
  return {
    ...{ url: sampler.url, engine: sampler, delivery: sampler, isStartedHere: false, logprobMode: 'raw' },
    close: () => sampler.close(),
  };
}

/** @param address its port is null for a server that runs */
function openService(
  kind: WeightServerKind,
  { url, port }: { readonly url: string; readonly port: number | null },
  { recipe, endpoint, policy, variables, warn, onDown }: ServerOptions,
): OpenedServer {
  const service = new ServiceClient({
    url,
    concurrency: recipe.collection.concurrentEpisodes + NUM_OTHER_REQUESTS,
    isPatient: true,
    downPauseMs: DOWN_PAUSE_MS,
    onDown: ({ message }) => {
      onDown(url, message);
    },
    pace: endpoint,
  });
  const engine: EngineOptions = {
    timeoutMs: endpoint.timeoutMs ?? TIMEOUT_MS,
    maxRetries: endpoint.maxRetries ?? MAX_RETRIES,
    deadlineMs: endpoint.deadlineMs,
    headers: authorization(endpoint, variables),
  };
  const { command = [], startTimeoutMs = START_TIMEOUT_MS } = endpoint;
  const started =
    port === null ? null : new StartedServer({ command, port, startTimeoutMs, engine, onWarning: warn });
  return {
    ...{ url, isStartedHere: started !== null, logprobMode: null },
    engine: openTokenEngine(kind, service, engine),
    delivery: started ?? openWeightDelivery(kind, service, { ...engine, hasAdapters: hasAdapters(policy) }),
    close: async () => started?.close(),
  };
}

function authorization(
  { apiKeyVariable }: EndpointRecipe,
  variables: ServerOptions['variables'],
): Record<string, string> {
  if (apiKeyVariable === undefined) return {};
  const key = variables[apiKeyVariable];
  if (key !== undefined && key !== '') return { authorization: `Bearer ${key}` };
  const message = `collection.endpoint.apiKeyVariable is ${apiKeyVariable}, which is not set in the collector's environment`;
  throw new CollectorError('INVALID_SETTING', message);
}
