import { readFile } from 'node:fs/promises';
import { resolveEngine, type Recipe } from '@retrace/config';
import type { GeneratedTokens, GenerationRequest, ScoredTokens, ScoreRequest } from '@retrace/chat';
import {
  EndpointError,
  type ConfirmedWeights,
  type DeliveredWeights,
  type TokenEngine,
  type WeightDelivery,
} from '@retrace/endpoints';
import { orAborted } from '@retrace/log';
import {
  sampleTokens,
  TinkerClient,
  TinkerError,
  TrainingSession,
  type ModelRequest,
  type SampledTurn,
  type TrainingModel,
} from '@retrace/tinker';
import { CollectorError } from '../collector-error.js';

/** A policy version as a model of its own in the server. */
interface FrozenVersion {
  readonly model: TrainingModel;
  /** Under which it samples. */
  readonly path: string;
}

/** Longest wait for a server that is restarting. */
const PATIENCE_MS = 600_000;
/** As of other servers. */
const DEADLINE_MS = 600_000;
const NOT_FOUND = 404;
/** Seeds of servers are signed. */
const SEED_LIMIT = 2 ** 31;

/**
 * The server of a run's Tinker engine as the one that samples. Each policy version becomes a model of its own, which is opened from the state that the trainer
 * saved and never trained: samplers' snapshots of SkyRL share the weights of the model that is trained.
 */
export class TinkerSampler implements TokenEngine, WeightDelivery {
  readonly form = 'location';
  readonly turnsUnderWay = 'keep';
  readonly lossShows = 'inTurns';
  private session: TrainingSession | null = null;
  private readonly versions = new Map<string, FrozenVersion>();

  private constructor(
    private readonly client: TinkerClient,
    private readonly request: ModelRequest,
    /** Of one turn. */
    private readonly deadlineMs: number,
  ) {}

  /** @throws CollectorError `INVALID_SETTING` for a key that can't be read */
  static async open(recipe: Recipe): Promise<TinkerSampler> {
    const { policy, collection, seed } = recipe;
    const { url, tokenFile, baseModel } = resolveEngine(recipe);
    if (url === undefined || !policy?.lora) throw new TypeError('recipe.engine: a Tinker server is missing');
    const client = new TinkerClient({
      url,
      // Four more than turns, so that deliveries and questions of the session do not wait for a turn to end.
      concurrency: collection.concurrentEpisodes + 4,
      patienceMs: PATIENCE_MS,
      ...(tokenFile === undefined ? {} : { apiKey: await readKey(tokenFile) }),
    });
    const request = { baseModel: baseModel ?? policy.model, rank: policy.lora.rank, seed };
    return new TinkerSampler(client, request, collection.endpoint?.deadlineMs ?? DEADLINE_MS);
  }

  get url(): string {
    return this.client.url;
  }

  /** The API has no call that says more. */
  describe(): Promise<string> {
    return Promise.resolve('Tinker API');
  }

  /** Rejects: servers tell no other tokens than those sampled; their logprobs are those of the model itself. */
  likeliest(): Promise<ReadonlyMap<string, number>> {
    return Promise.reject(new EndpointError('UNSUPPORTED', 'a Tinker server tells no likeliest tokens'));
  }

  async score({ tokenIds, model }: ScoreRequest, signal?: AbortSignal): Promise<ScoredTokens> {
    const { promptLogprobs } = await this.sample({ ...PLAIN, tokenIds, model, promptLogprobs: true }, signal);
    if (promptLogprobs !== null) return { logprobs: promptLogprobs, likeliest: null };
    throw new EndpointError('MALFORMED_ANSWER', 'the answer has no logprobs of the prompt');
  }

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<GeneratedTokens> {
    const { temperature, greedy, topK, seed, stopTokenIds } = request;
    const late = AbortSignal.timeout(this.deadlineMs);
    const { tokenIds, logprobs, stopReason } = await this.sample(
      {
        ...request,
        maxTokens: request.maxNewTokens,
        temperature: greedy ? 0 : temperature,
        topK: topK === 0 ? -1 : topK,
        seed: seed % SEED_LIMIT,
        stop: stopTokenIds,
      },
      signal === undefined ? late : AbortSignal.any([signal, late]),
    ).catch((error: unknown) => {
      if (!late.aborted || signal?.aborted) throw error;
      throw new EndpointError('TIMEOUT', `no turn within the deadline of ${this.deadlineMs} ms`);
    });
    return {
      ...{ tokenIds, logprobs, versions: null },
      stopReason: stopReason === 'stop' ? 'stopToken' : 'length',
    };
  }

  /** Asks for a token: no call of the API says whether a model is still there. */
  async serving(name: string, signal?: AbortSignal): Promise<string | null> {
    if (!this.versions.has(name)) return null;
    try {
      await this.sample({ ...PLAIN, tokenIds: [1], model: name }, signal);
      return name;
    } catch (error) {
      if (!isLost(error)) throw error;
      this.versions.delete(name);
      return null;
    }
  }

  async deliver({ name, location = '' }: DeliveredWeights, signal?: AbortSignal): Promise<ConfirmedWeights> {
    if ((await this.serving(name, signal)) === null) {
      const frozen = this.freeze(location, signal);
      // A model that is made after an abort belongs to the session, which ends with the process.
      const version = await this.asked(() => (signal === undefined ? frozen : orAborted(frozen, signal)));
      signal?.throwIfAborted();
      if (version !== null) this.versions.set(name, version);
    }
    return { version: name, model: name };
  }

  async retire(name: string): Promise<void> {
    const version = this.versions.get(name);
    this.versions.delete(name);
    if (version !== undefined) await this.session?.unload(version.model);
  }

  /** Ends the session with its models. */
  async close(): Promise<void> {
    await this.session?.close();
    await this.client.close();
  }

  private async freeze(path: string, signal?: AbortSignal): Promise<FrozenVersion> {
    // The calls that make a model are sent once: this one waits for a server that starts again.
    await this.client.call('healthz', undefined, { method: 'GET', signal });
    const model = await this.openModel(path);
    return { model, path: await model.saveForSampler() };
  }

  private async openModel(path: string): Promise<TrainingModel> {
    const state = { path, optimizer: false };
    if (this.session !== null) {
      try {
        return await this.session.openModel(this.request, state);
      } catch (error) {
        // The session of a server that has started again.
        if (!(error instanceof TinkerError && error.code === 'MODEL_LOST')) throw error;
        await this.session.close();
      }
    }
    this.session = await TrainingSession.open(this.client, { repeatsAnswers: false });
    return this.session.openModel(this.request, state);
  }

  private sample(
    { model, ...request }: Omit<Parameters<typeof sampleTokens>[1], 'path'> & { readonly model: string },
    signal?: AbortSignal,
  ): Promise<SampledTurn> {
    const version = this.versions.get(model);
    if (version === undefined) {
      const message = `the server has no weights named ${model}`;
      return Promise.reject(new EndpointError('HTTP_STATUS', message, { status: NOT_FOUND }));
    }
    return this.asked(() => sampleTokens(this.client, { ...request, path: version.path }, signal));
  }

  /** Does what asks the server. @throws EndpointError; the signal's reason */
  private async asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TinkerError)) throw error;
      const { code, message } = error;
      if (code === 'MODEL_LOST')
        throw new EndpointError('HTTP_STATUS', message, { status: NOT_FOUND, cause: error });
      if (code === 'NO_ANSWER' || code === 'FAILED')
        throw new EndpointError('UNREACHABLE', message, { cause: error });
      if (code === 'MALFORMED_ANSWER') throw new EndpointError('MALFORMED_ANSWER', message, { cause: error });
      throw new EndpointError('UNSUPPORTED', message, { cause: error });
    }
  }
}

/** One token of the policy's own distribution. */
const PLAIN = { maxTokens: 1, temperature: 1, topK: -1, topP: 1, seed: 0, stop: [] };

function isLost(error: unknown): boolean {
  return error instanceof EndpointError && error.status === NOT_FOUND;
}

async function readKey(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const why = (cause as Error).message;
    throw new CollectorError('INVALID_SETTING', `engine.tokenFile is ${path}, which can't be read: ${why}`);
  }
}
