import { resolve } from 'node:path';
import { MAX_LOGPROB_DIFFERENCE, type Recipe } from '@retrace/config';
import type { LogprobMode } from '@retrace/chat';
import { findLogprobMode, type TokenEngine } from '@retrace/endpoints';
import type { WarningLog } from '@retrace/log';
import type { PolicyText, Transformer } from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';
import { CollectorError } from '../collector-error.js';
import { EndpointActor } from './endpoint-actor.js';
import { openServer, type OpenedServer } from './open-server.js';
import { PausableEngine } from './pausable-engine.js';
import { ServedPolicies } from './served-policies.js';
import { WatchedEngine } from './watched-engine.js';
import { WeightCheck } from './weight-check.js';

/** Enough tokens of many kinds that a change of the weights shows in some of them. */
const CHECKED_TEXT =
  'The quick brown fox jumps over the lazy dog. 12 + 30 = 42; {"move": "left", "to": [3, 7]}\nOK?';
const MAX_CHECKED_TOKENS = 64;

interface EndpointOptions {
  readonly runId: string;
  readonly recipe: Recipe;
  readonly text: PolicyText;
  /** For the weights of new versions, where the recipe names no directory. */
  readonly weightsDirectory: string;
  /** The collector's environment, which holds the API key. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Gets a warning where the server does not compute with the weights that it was given. */
  readonly warnings: Pick<WarningLog, 'raise'>;
  /** Whether this is the only collector of the run. */
  readonly isAlone: boolean;
  readonly signal: AbortSignal;
}

interface EndpointActorRequest {
  readonly maxTokens: number;
  readonly sampling: SamplingParameters;
  readonly stopStrings: readonly string[] | undefined;
  readonly ownStopStrings: readonly string[];
}

interface EndpointParts {
  /** Null for a server that is asked later. */
  readonly described: string | null;
  readonly engine: TokenEngine;
  readonly policies: ServedPolicies;
  readonly server: OpenedServer;
}

/** A server of the recipe that samples the policy. */
export class PolicyEndpoint {
  private logprobMode: LogprobMode | null;
  private described: string | null;
  private readonly engine: TokenEngine;
  private readonly policies: ServedPolicies;
  private readonly server: OpenedServer;

  private constructor(
    { described, engine, policies, server }: EndpointParts,
    private readonly options: Pick<EndpointOptions, 'text' | 'warnings' | 'signal'>,
  ) {
    this.described = described;
    this.engine = engine;
    this.policies = policies;
    this.server = server;
    this.logprobMode = server.logprobMode;
  }

  /** Name and version of the server; one that Retrace starts is asked when it first serves a version. */
  get description(): string {
    return this.described ?? 'unknown';
  }

  /** Opens the server of a recipe; null where it has none. @throws EndpointError when it does not answer */
  static async open(options: EndpointOptions): Promise<PolicyEndpoint | null> {
    const { recipe, runId, text, variables, signal } = options;
    const { endpoint } = recipe.collection;
    const warn = (message: string) => {
      options.warnings.raise({ source: 'collector', message });
    };
    if (!endpoint || !recipe.policy) return null;
    const server = await openServer({ recipe, endpoint, policy: recipe.policy, variables, warn });
    const { url, delivery } = server;
    const pausable = new PausableEngine(server.engine);
    const { maxLogprobDifference = MAX_LOGPROB_DIFFERENCE } = endpoint;
    const policies = new ServedPolicies({
      runId,
      directory: resolve(endpoint.directory ?? options.weightsDirectory),
      baseModel: recipe.policy.model,
      text,
      delivery,
      pausable,
      isAlone: options.isAlone,
      onDiffer: (message) => {
        options.warnings.raise({ source: 'collector', severity: 'alarm', message });
      },
      onLoss: (version) => {
        warn(`the server at ${url} had lost its weights, and has those of policy version ${version} again`);
      },
      check: openCheck(pausable, {
        text,
        maxDifference: maxLogprobDifference,
        maxPositions: recipe.policy.maxPositions,
      }),
      signal,
    });
    const engine = new WatchedEngine({ engine: pausable, policies, lossShows: delivery.lossShows });
    const described = server.isStartedHere ? null : await engine.describe(signal);
    return new PolicyEndpoint({ described, engine, policies, server }, options);
  }

  /**
   * Brings a policy version to the server. Turns that begin later are sampled by it.
   *
   * @throws as `ServedPolicies.serve`; `WEIGHTS_DIFFER` is an alarm of the run, too
   */
  async serve(policyVersion: number, model: Transformer, location: string): Promise<void> {
    await this.policies.serve(policyVersion, model, location);
    this.described ??= await this.engine.describe(this.options.signal);
  }

  /** Unloads the adapters from the server, and stops the server where Retrace started it. */
  async close(): Promise<void> {
    await this.policies.close();
    await this.server.close();
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

interface CheckOptions {
  readonly text: PolicyText;
  readonly maxDifference: number | null;
  readonly maxPositions: number;
}

function openCheck(
  engine: TokenEngine,
  { text: { tokenizer }, maxDifference, maxPositions }: CheckOptions,
): WeightCheck | null {
  if (maxDifference === null) return null;
  // A server is asked for one more token.
  const numTokens = Math.min(MAX_CHECKED_TOKENS, maxPositions - 1);
  const tokenIds = Array.from(tokenizer.encode(CHECKED_TEXT)).slice(0, numTokens);
  return new WeightCheck({ engine, tokenIds, maxDifference });
}

/** Logprobs of the behavior policy are after temperature; only at temperature 1 do they equal the raw ones. */
function requireTrainableLogprobs(mode: LogprobMode, { temperature, greedy }: SamplingParameters): void {
  if (mode === 'processed' || greedy || temperature === 1) return;
  const message =
    `collection.temperature is ${temperature}, and the server gives logprobs from before the temperature, which are not those of the policy ` +
    `that samples; start vLLM with --logprobs-mode processed_logprobs (SGLang without SGLANG_RETURN_ORIGINAL_LOGPROB), or set it to 1`;
  throw new CollectorError('INVALID_SETTING', message);
}

/** Contexts in which a model is seldom certain. */
export function probes({ tokenizer }: PolicyText): number[][] {
  return ['a', 'The', '1 2', 'Hello world'].map((text) => Array.from(tokenizer.encode(text)));
}
