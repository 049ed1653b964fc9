import { requireText } from './answer.js';
import type { TinkerClient } from './tinker-client.js';
import { TinkerError } from './tinker-error.js';
import { TrainingModel, type AdamParameters } from './training-model.js';

/** The SDK whose JSON is spoken: servers refuse versions that they don't know. */
const SDK_VERSION = '0.24.0';
/** Servers end a session that is silent for some minutes, with its models. */
const HEARTBEAT_MS = 10_000;

/** A step that leaves the weights as they are. */
export const NO_CHANGE: AdamParameters = {
  ...{ learningRate: 0, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0 },
  maxGradientNorm: 0,
};

/** A model to make: the base model with a fresh adapter on all of its projections. */
export interface ModelRequest {
  /** As the server names it. */
  readonly baseModel: string;
  readonly rank: number;
  /** Of the adapter's first weights. */
  readonly seed: number;
}

/** A session of the server, which owns models. It is kept alive until it is closed. */
export class TrainingSession {
  private numModels = 0;
  private readonly models = new Set<TrainingModel>();
  private readonly heart: NodeJS.Timeout;

  private constructor(
    private readonly client: TinkerClient,
    private readonly id: string,
    /** Whether the server answers a numbered call that is sent again, and applies it once. */
    private readonly repeatsAnswers: boolean,
  ) {
    this.heart = setInterval(() => void this.beat(), HEARTBEAT_MS);
    this.heart.unref();
  }

  /**
   * @param repeatsAnswers whether lost answers of calls that change a model may be asked for by sending the call again
   * @throws TinkerError
   */
  static async open(
    client: TinkerClient,
    { repeatsAnswers }: { readonly repeatsAnswers: boolean },
  ): Promise<TrainingSession> {
    const answer = await client.call('create_session', {
      tags: ['retrace'],
      user_metadata: {},
      sdk_version: SDK_VERSION,
      type: 'create_session',
    });
    return new TrainingSession(client, requireText(answer, 'session_id'), repeatsAnswers);
  }

  /** @throws TinkerError `REFUSED` or `FAILED` for a base model or a rank that the server does not have */
  async createModel({ baseModel, rank, seed }: ModelRequest): Promise<TrainingModel> {
    const body = {
      session_id: this.id,
      model_seq_id: this.numModels++,
      base_model: baseModel,
      lora_config: { rank, seed, train_unembed: false, train_mlp: true, train_attn: true },
      type: 'create_model',
    };
    // Sent again it would make another model.
    const answer = await this.client.run('create_model', body, { isRepeatable: false });
    const { client, repeatsAnswers } = this;
    const model = new TrainingModel(client, { id: requireText(answer, 'model_id'), repeatsAnswers });
    this.models.add(model);
    return model;
  }

  /**
   * A model to be trained. SkyRL's JAX back-end gives a new model the lowest free place, with the gradients that no step of the model before had used: a step of a
   * model that is unloaded again uses them up. If another session frees a lower place in between, the model gets that one as it is.
   *
   * @throws as `createModel`
   */
  async createTrained(request: ModelRequest): Promise<TrainingModel> {
    await this.clearPlace(request);
    return this.createModel(request);
  }

  /** A model to be trained further, from a training checkpoint with its optimizer. @throws TinkerError `CHECKPOINT_UNKNOWN` */
  async resumeTrained(request: ModelRequest, path: string): Promise<TrainingModel> {
    await this.clearPlace(request);
    return this.openModel(request, { path, optimizer: true });
  }

  /** A model with the weights of a training checkpoint. @throws TinkerError `CHECKPOINT_UNKNOWN` */
  async openModel(
    request: ModelRequest,
    { path, optimizer }: { readonly path: string; readonly optimizer: boolean },
  ): Promise<TrainingModel> {
    const model = await this.createModel(request);
    try {
      await model.loadWeights(path, optimizer);
      return model;
    } catch (error) {
      await this.unload(model);
      throw error;
    }
  }

  private async clearPlace(request: ModelRequest): Promise<void> {
    const model = await this.createModel(request);
    // Without gradients some servers refuse a step, and there is nothing to use up.
    await model.step([], NO_CHANGE).catch((error: unknown) => {
      if (!(error instanceof TinkerError && ['REFUSED', 'FAILED'].includes(error.code))) throw error;
    });
    await this.unload(model);
  }

  /** Frees a model's place in the server, as far as the server answers. */
  async unload(model: TrainingModel): Promise<void> {
    this.models.delete(model);
    await model.unload().catch(() => undefined);
  }

  /** Ends the session with its models. */
  async close(): Promise<void> {
    clearInterval(this.heart);
    await Promise.all([...this.models].map((model) => this.unload(model)));
  }

  /** A session that is gone shows in the next call of its models. */
  private async beat(): Promise<void> {
    const body = { session_id: this.id, type: 'session_heartbeat' };
    await this.client.call('session_heartbeat', body, { isRepeatable: false }).catch(() => undefined);
  }
}
