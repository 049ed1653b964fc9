import type { LogprobMode, WeightServerKind } from '@retrace/chat';
import { hasAdapters, type EndpointRecipe, type PolicyRecipe, type Recipe } from '@retrace/config';
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
}

/** Opens the server that a recipe names, or makes ready to start it. @throws CollectorError `INVALID_SETTING` */
export async function openServer(options: ServerOptions): Promise<OpenedServer> {
  const { kind } = options.endpoint;
  return kind === 'tinker' ? openTinker(options) : openService(kind, options);
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

async function openService(
  kind: WeightServerKind,
  { recipe, endpoint, policy, variables, warn }: ServerOptions,
): Promise<OpenedServer> {
  const port = endpoint.command === undefined ? 0 : await findFreePort();
  const url = endpoint.url ?? `http://127.0.0.1:${port}`;
  const service = new ServiceClient({
    url,
    concurrency: recipe.collection.concurrentEpisodes,
    isPatient: true,
    downPauseMs: DOWN_PAUSE_MS,
    onDown: ({ message }) => {
      warn(`turns wait for the server at ${url}: ${message}`);
    },
    pace: endpoint,
  });
  const engine: EngineOptions = {
    timeoutMs: endpoint.timeoutMs ?? TIMEOUT_MS,
    maxRetries: endpoint.maxRetries ?? MAX_RETRIES,
    deadlineMs: endpoint.deadlineMs,
    headers: authorization(endpoint, variables),
  };
  const started = startedServer(endpoint, port, { engine, onWarning: warn });
  return {
    ...{ url, isStartedHere: started !== null, logprobMode: null },
    engine: openTokenEngine(kind, service, engine),
    delivery: started ?? openWeightDelivery(kind, service, { ...engine, hasAdapters: hasAdapters(policy) }),
    close: async () => started?.stop(),
  };
}

/** The server that the recipe starts; null where it names one that runs. */
function startedServer(
  { command, startTimeoutMs = START_TIMEOUT_MS }: EndpointRecipe,
  port: number,
  options: { readonly engine: EngineOptions; readonly onWarning: (message: string) => void },
): StartedServer | null {
  return command === undefined ? null : new StartedServer({ command, port, startTimeoutMs, ...options });
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
