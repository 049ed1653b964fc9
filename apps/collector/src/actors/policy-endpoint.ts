import { resolve } from 'node:path';
import type { EndpointRecipe, Recipe } from '@retrace/config';
import {
  findLogprobMode,
  ServiceClient,
  SglangEngine,
  VllmEngine,
  type EngineOptions,
  type LogprobMode,
  type TokenEngine,
} from '@retrace/endpoints';
import { findFreePort } from '@retrace/process/free-port';
import type { PolicyText, Transformer } from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';
import { CollectorError } from '../collector-error.js';
import { EndpointActor } from './endpoint-actor.js';
import { PausableEngine } from './pausable-engine.js';
import { ServedPolicies } from './served-policies.js';
import { StartedServer } from './started-server.js';

const TIMEOUT_MS = 120_000;
const MAX_RETRIES = 3;
const START_TIMEOUT_MS = 600_000;

interface EndpointOptions {
  readonly runId: string;
  readonly recipe: Recipe;
  readonly text: PolicyText;
  /** For the weights of new versions, where the recipe names no directory. */
  readonly weightsDirectory: string;
  /** The collector's environment, which holds the API key. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

interface EndpointActorRequest {
  readonly maxTokens: number;
  readonly sampling: SamplingParameters;
  readonly stopStrings: readonly string[] | undefined;
  readonly ownStopStrings: readonly string[];
}

/** A server of the recipe that samples the policy. */
export class PolicyEndpoint {
  private logprobMode: LogprobMode | null = null;

  private constructor(
    private described: string | null,
    private readonly engine: TokenEngine,
    private readonly policies: ServedPolicies,
    private readonly started: StartedServer | null,
    private readonly options: Pick<EndpointOptions, 'text' | 'signal'>,
  ) {}

  /** Name and version of the server; one that Retrace starts is asked when it first serves a version. */
  get description(): string {
    return this.described ?? 'unknown';
  }

  /** Opens the server of a recipe; null where it has none. @throws EndpointError when it does not answer */
  static async open(options: EndpointOptions): Promise<PolicyEndpoint | null> {
    const { recipe, runId, text, signal } = options;
    const { endpoint, concurrentEpisodes } = recipe.collection;
    if (!endpoint || !recipe.policy) return null;
    const port = endpoint.command === undefined ? 0 : await findFreePort();
    const url = endpoint.url ?? `http://127.0.0.1:${port}`;
    const service = new ServiceClient({
      url,
      concurrency: concurrentEpisodes,
      isPatient: true,
      pace: endpoint,
    });
    const engineOptions: EngineOptions = {
      timeoutMs: endpoint.timeoutMs ?? TIMEOUT_MS,
      maxRetries: endpoint.maxRetries ?? MAX_RETRIES,
      deadlineMs: endpoint.deadlineMs,
      headers: authorization(endpoint, options.variables),
    };
    const Engine = endpoint.kind === 'vllm' ? VllmEngine : SglangEngine;
    const engine = new PausableEngine(new Engine(service, engineOptions));
    const { command, startTimeoutMs = START_TIMEOUT_MS } = endpoint;
    const started =
      command === undefined
        ? null
        : new StartedServer({ command, port, startTimeoutMs, engine: engineOptions });
    const policies = new ServedPolicies({
      runId,
      kind: endpoint.kind,
      directory: resolve(endpoint.directory ?? options.weightsDirectory),
      baseModel: recipe.policy.model,
      text,
      service,
      started,
      pausable: engine,
      engine: engineOptions,
      signal,
    });
    const described = started ? null : await engine.describe(signal);
    return new PolicyEndpoint(described, engine, policies, started, options);
  }

  /** Brings a policy version to the server. Turns that begin later are sampled by it. */
  async serve(policyVersion: number, model: Transformer): Promise<void> {
    await this.policies.serve(policyVersion, model);
    this.described ??= await this.engine.describe(this.options.signal);
  }

  /** Ends the server, where Retrace started it. */
  async close(): Promise<void> {
    await this.started?.stop();
  }

  /** @throws CollectorError `INVALID_SETTING` when the server gives logprobs that no update can use */
  async actor({ sampling, ...request }: EndpointActorRequest): Promise<EndpointActor> {
    const { text, signal } = this.options;
    this.logprobMode ??= await findLogprobMode(this.engine, this.policies.newest.model, probes(text));
    requireTrainableLogprobs(this.logprobMode, sampling);
    return new EndpointActor({
      ...request,
      engine: this.engine,
      logprobMode: this.logprobMode,
      text,
      sampling,
      served: () => this.policies.newest,
      signal,
    });
  }
}

/** Logprobs of the behavior policy are those after temperature, which equal the raw ones at temperature 1 only. */
function requireTrainableLogprobs(mode: LogprobMode, { temperature, greedy }: SamplingParameters): void {
  if (mode === 'processed' || greedy || temperature === 1) return;
  const message =
    `collection.temperature is ${temperature}, and the server gives logprobs from before the temperature, which are not those of the policy ` +
    `that samples; start vLLM with --logprobs-mode processed_logprobs (SGLang without SGLANG_RETURN_ORIGINAL_LOGPROB), or set it to 1`;
  throw new CollectorError('INVALID_SETTING', message);
}

function authorization(
  { apiKeyVariable }: EndpointRecipe,
  variables: EndpointOptions['variables'],
): Record<string, string> {
  if (apiKeyVariable === undefined) return {};
  const key = variables[apiKeyVariable];
  if (key !== undefined && key !== '') return { authorization: `Bearer ${key}` };
  const message = `collection.endpoint.apiKeyVariable is ${apiKeyVariable}, which is not set in the collector's environment`;
  throw new CollectorError('INVALID_SETTING', message);
}

/** Contexts in which a model is seldom certain. */
function probes({ tokenizer }: PolicyText): number[][] {
  return ['a', 'The', '1 2', 'Hello world'].map((text) => Array.from(tokenizer.encode(text)));
}
