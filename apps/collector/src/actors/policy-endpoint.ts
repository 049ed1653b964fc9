import { resolve } from 'node:path';
import { MAX_LOGPROB_DIFFERENCE, type Recipe } from '@retrace/config';
import type { LogprobMode } from '@retrace/chat';
import type { WarningLog } from '@retrace/log';
import type { PolicyText, Transformer } from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';
import { CollectorError } from '../collector-error.js';
import { DividedTurns } from './divided-turns.js';
import { EndpointActor } from './endpoint-actor.js';
import { openServers, type OpenedServer } from './open-server.js';
import { PausableEngine } from './pausable-engine.js';
import { PolicyServer } from './policy-server.js';
import { SamplingServers } from './sampling-servers.js';
import { ServedPolicies } from './served-policies.js';
import { WatchedEngine } from './watched-engine.js';
import { WeightCheck } from './weight-check.js';
import { ServedWeights } from './served-weights.js';

/** Enough tokens of many kinds that a change of the weights shows in some of them. */
const CHECKED_TEXT =
  'The quick brown fox jumps over the lazy dog. 12 + 30 = 42; {"move": "left", "to": [3, 7]}\nOK?';
const MAX_CHECKED_TOKENS = 64;
/** Of one turn, as of other requests. */
const DEADLINE_MS = 600_000;
const TRY_AGAIN_MS = 1_000;

interface EndpointOptions {
  readonly runId: string;
  readonly recipe: Recipe;
  readonly text: PolicyText;
  /** For the weights of new versions, where the recipe names no directory. */
  readonly weightsDirectory: string;
  /** The collector's environment, which holds the API key. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Gets a warning where a server is down, or does not compute with the weights that it was given. */
  readonly warnings: Pick<WarningLog, 'raise'>;
  /** Whether this is the only collector of the run. */
  readonly isAlone: boolean;
  /** Pause before a server that is left out is tried again (default 1000). */
  readonly tryAgainMs?: number;
  readonly signal: AbortSignal;
}

interface EndpointActorRequest {
  readonly maxTokens: number;
  readonly sampling: SamplingParameters;
  readonly stopStrings: readonly string[] | undefined;
  readonly ownStopStrings: readonly string[];
}

interface EndpointParts {
  readonly servers: SamplingServers;
  /** Ends what goes on in the background. */
  readonly closing: AbortController;
}

/** The servers of the recipe that sample the policy. */
export class PolicyEndpoint {
  private readonly servers: SamplingServers;
  private readonly closing: AbortController;

  private constructor(
    { servers, closing }: EndpointParts,
    private readonly options: Pick<EndpointOptions, 'recipe' | 'text' | 'warnings' | 'signal'>,
  ) {
    this.servers = servers;
    this.closing = closing;
  }

  /** Names and versions of the servers; those that Retrace starts are asked when they first serve a version. */
  get description(): string {
    const found = this.servers.all.flatMap(({ description }) => description ?? []);
    return [...new Set(found)].join(' / ') || 'unknown';
  }

  /** The servers, with whether each is left out at present. */
  get all(): readonly Pick<PolicyServer, 'url' | 'isLeftOut' | 'numTurns'>[] {
    return this.servers.all;
  }

  /** Opens the servers of a recipe; null where it has none. @throws EndpointError when none answers */
  static async open(options: EndpointOptions): Promise<PolicyEndpoint | null> {
    const { recipe, variables, warnings } = options;
    const { endpoint } = recipe.collection;
    if (!endpoint || !recipe.policy) return null;
    const closing = new AbortController();
    const signal = AbortSignal.any([options.signal, closing.signal]);
    const warn = (message: string) => {
      warnings.raise({ source: 'collector', message });
    };
    const byUrl = new Map<string, PolicyServer>();
    const opened = await openServers({
      ...{ recipe, endpoint, policy: recipe.policy, variables, warn },
      onDown: (url, reason) => {
        if (byUrl.size === 1) warn(`turns wait for the server at ${url}: ${reason}`);
        else byUrl.get(url)?.leaveOut(reason);
      },
    });
    const checkedTokenIds =
      endpoint.maxLogprobDifference === null ? [] : checkedTokens(options.text, recipe.policy.maxPositions);
    const files = new ServedWeights({
      ...{ runId: options.runId, text: options.text, checkedTokenIds },
      directory: resolve(endpoint.directory ?? options.weightsDirectory),
      baseModel: recipe.policy.model,
      form: opened[0].delivery.form,
    });
    const missed = new Set<PolicyServer>();
    for (const [n, server] of opened.entries()) {
      const place = opened.length === 1 ? 'the server' : `server ${letters(n)} of ${opened.length}`;
      const name = `${place} at ${server.url}`;
      const onChange = (changed: PolicyServer) => {
        if (changed.isLeftOut) missed.add(changed);
        else if (servers.hasPolicy(changed) && missed.delete(changed)) warn(`${name} gets turns again`);
        servers.moveTurns();
      };
      const parts = { server, files, checkedTokenIds, name, onChange };
      byUrl.set(server.url, openPolicyServer(parts, { ...options, signal }));
    }
    const all = [...byUrl.values()];
    const servers = new SamplingServers({
      ...{ servers: all, files, signal },
      onMissing: ({ url }, policyVersion, reason) => {
        const name = letters(all.findIndex((server) => server.url === url));
        warn(
          `server ${name} of ${all.length} at ${url} gets no turns until it has policy version ${policyVersion}: ${reason}`,
        );
      },
    });
    // One that does not answer now is left out.
    const running = all.filter((_, n) => !opened[n].isStartedHere).map((server) => server.describe());
    if (running.length > 0)
      await Promise.any(running).catch((error: AggregateError) => {
        throw error.errors[0];
      });
    return new PolicyEndpoint({ servers, closing }, options);
  }

  /**
   * Brings a policy version to the servers. Turns that begin later are sampled by it.
   *
   * @throws as `SamplingServers.serve`; `WEIGHTS_DIFFER` is an alarm of the run, too
   */
  serve(policyVersion: number, model: Transformer, location: string): Promise<void> {
    return this.servers.serve(policyVersion, model, location);
  }

  /** Unloads the adapters from the servers, and stops those that Retrace started. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.servers.close();
  }

  /** @throws CollectorError `INVALID_SETTING` when a server gives logprobs that no update can use; as `serve`, of an earlier delivery */
  actor({ sampling, ...request }: EndpointActorRequest): EndpointActor {
    const { text, warnings } = this.options;
    this.servers.requireNoFault();
    for (const { url, logprobMode } of this.servers.all)
      if (logprobMode !== null && !isTrainable(logprobMode, sampling)) throw untrainable(url, sampling);
    const sampler = new DividedTurns(this.servers, {
      isTrainable: (mode) => isTrainable(mode, sampling),
      onUntrainable: ({ url }) => {
        const { message } = untrainable(url, sampling);
        warnings.raise({ source: 'collector', message: `the server at ${url} gets no turns: ${message}` });
      },
      deadlineMs: this.options.recipe.collection.endpoint?.deadlineMs ?? DEADLINE_MS,
    });
    // Turns under way end with the endpoint, which waits for them.
    const signal = AbortSignal.any([this.options.signal, this.closing.signal]);
    return new EndpointActor({ ...request, sampler, text, sampling, signal });
  }
}

interface ServerParts {
  readonly server: OpenedServer;
  readonly files: ServedWeights;
  readonly checkedTokenIds: readonly number[];
  /** For messages. */
  readonly name: string;
  readonly onChange: (server: PolicyServer) => void;
}

function openPolicyServer(
  { server, files, checkedTokenIds, name, onChange }: ServerParts,
  { runId, recipe, text, warnings, isAlone, tryAgainMs = TRY_AGAIN_MS, signal }: EndpointOptions,
): PolicyServer {
  const { url, delivery } = server;
  const warn = (message: string) => {
    warnings.raise({ source: 'collector', message });
  };
  const pausable = new PausableEngine(server.engine);
  const maxDifference = recipe.collection.endpoint?.maxLogprobDifference ?? MAX_LOGPROB_DIFFERENCE;
  const policies = new ServedPolicies({
    ...{ runId, files, delivery, pausable, isAlone, signal },
    onDiffer: (message) => {
      warnings.raise({ source: 'collector', severity: 'alarm', message });
    },
    onLoss: (version) => {
      warn(`${name} had lost its weights, and has those of policy version ${version} again`);
    },
    check:
      checkedTokenIds.length === 0
        ? null
        : new WeightCheck({ url, engine: pausable, tokenIds: checkedTokenIds, maxDifference }),
  });
  return new PolicyServer({
    ...{ server, policies, text, onChange, tryAgainMs, signal },
    engine: new WatchedEngine({ engine: pausable, policies, lossShows: delivery.lossShows }),
    onLeftOut: (reason) => {
      warn(`${name} is left out until it answers: ${reason}`);
    },
    onDelay: (policyVersion, reason) => {
      warn(`${name} gets no turns, as it does not take policy version ${policyVersion}: ${reason}`);
    },
  });
}

function checkedTokens({ tokenizer }: PolicyText, maxPositions: number): readonly number[] {
  // A server is asked for one more token.
  const numTokens = Math.min(MAX_CHECKED_TOKENS, maxPositions - 1);
  return Array.from(tokenizer.encode(CHECKED_TEXT)).slice(0, numTokens);
}

/** Logprobs of the behavior policy are after temperature; only at temperature 1 do they equal the raw ones. */
function isTrainable(mode: LogprobMode, { temperature, greedy }: SamplingParameters): boolean {
  return mode === 'processed' || greedy || temperature === 1;
}

function untrainable(url: string, { temperature }: SamplingParameters): CollectorError {
  const message =
    `collection.temperature is ${temperature}, and the server at ${url} gives logprobs from before the temperature, which are not those of the ` +
    `policy that samples; start vLLM with --logprobs-mode processed_logprobs (SGLang without SGLANG_RETURN_ORIGINAL_LOGPROB), or set it to 1`;
  return new CollectorError('INVALID_SETTING', message);
}

/** A, B, … Z, AA, AB: warnings that differ in digits only count as one. */
function letters(n: number): string {
  const rest = Math.floor(n / 26);
  return (rest === 0 ? '' : letters(rest - 1)) + String.fromCharCode(65 + (n % 26));
}
