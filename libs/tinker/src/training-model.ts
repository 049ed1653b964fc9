import { randomUUID } from 'node:crypto';
import { requireList, requireTensor, requireText, type TinkerAnswer } from './answer.js';
import type { Datum } from './datum.js';
import type { TakenCall, TinkerClient } from './tinker-client.js';
import { TinkerError } from './tinker-error.js';

/** AdamW and its step. */
export interface AdamParameters {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** Largest norm of the gradients; 0 scales none down. */
  readonly maxGradientNorm: number;
}

/** Attempts at a call that changes nothing and whose answer is lost. */
const MAX_ATTEMPTS = 3;
const UNLOAD_MS = 5_000;

/**
 * A model of a session: weights, gradients and optimizer in the server.
 *
 * Servers apply calls in the order in which they arrive, so each is sent once the server has taken the one before. Their results may come later.
 * A call whose answer is lost leaves the model unknown where the server does not repeat answers: `NO_ANSWER`, after which the model is of no use.
 */
export class TrainingModel {
  readonly id: string;
  private readonly isRepeatable: boolean;
  private numCalls = 0;
  private sent: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly client: TinkerClient,
    { id, repeatsAnswers }: { readonly id: string; readonly repeatsAnswers: boolean },
  ) {
    this.id = id;
    this.isRepeatable = repeatsAnswers;
  }

  /**
   * [one for each datum][N − 1] log π of the targets, in nats, at temperature 1.
   *
   * @param calls data by call
   * @throws TinkerError
   */
  async forward(calls: readonly (readonly Datum[])[]): Promise<readonly Float32Array[]> {
    const taken: TakenCall[] = [];
    for (const data of calls)
      taken.push(await this.beginFree('forward', { forward_input: { data, loss_fn: 'cross_entropy' } }));
    const logprobs: Float32Array[] = [];
    for (const [c, call] of taken.entries())
      logprobs.push(...readLogprobs(await this.client.result(call, 'forward'), calls[c]));
    return logprobs;
  }

  /**
   * Adds the gradients of all calls' data, makes an optimizer step with them, and returns its metrics. Where it rejects, a part may be applied.
   *
   * @param calls data by call, with logprobs and advantages; of `−exp(log π − logprobs) · advantages` the gradient is taken
   * @throws TinkerError
   */
  async step(
    calls: readonly (readonly Datum[])[],
    parameters: AdamParameters,
  ): Promise<ReadonlyMap<string, number>> {
    const taken: TakenCall[] = [];
    for (const data of calls) taken.push(await this.beginBackward(data));
    const step = await this.beginStep(parameters);
    for (const call of taken) await this.client.result(call, 'forward_backward');
    return readMetrics(await this.client.result(step, 'optim_step'));
  }

  /** Sends a call for gradients, which the next step is made with. @throws TinkerError */
  beginBackward(data: readonly Datum[]): Promise<TakenCall> {
    const body = (seqId: number) => backwardBody(this.id, seqId, data);
    return this.begin('forward_backward', body, this.isRepeatable);
  }

  /** Sends the newest call again, which was one for gradients. @throws TinkerError `REFUSED` where the server takes each number once */
  repeatBackward(data: readonly Datum[]): Promise<TakenCall> {
    return this.client.begin('forward_backward', backwardBody(this.id, this.numCalls, data));
  }

  /** Stores weights and optimizer in the server, and returns the path of the checkpoint there. @throws TinkerError */
  saveState(): Promise<string> {
    return this.save('save_weights', { overwrite: false });
  }

  /** Stores the weights in the server as its samplers read them, and returns their path there. @throws TinkerError */
  saveForSampler(): Promise<string> {
    return this.save('save_weights_for_sampler', { kind: 'snapshot' });
  }

  /** Takes the weights of a training checkpoint; only as the first call of a model. @throws TinkerError `CHECKPOINT_UNKNOWN` */
  async loadWeights(path: string, optimizer: boolean): Promise<void> {
    const body = (seqId: number) => ({
      ...{ model_id: this.id, path, optimizer, seq_id: seqId, type: 'load_weights' },
    });
    // Sent again it would be the second call, which servers refuse.
    await this.client.result(await this.begin('load_weights', body, false), 'load_weights');
  }

  /** Has the server forget the model, as far as it answers soon. */
  async unload(): Promise<void> {
    const options = { isRepeatable: false, deadlineMs: UNLOAD_MS };
    await this.client.begin('unload_model', { model_id: this.id, type: 'unload_model' }, options);
  }

  private beginStep(parameters: AdamParameters): Promise<TakenCall> {
    const body = (seqId: number) => ({
      ...{ model_id: this.id, seq_id: seqId, type: 'optim_step' },
      adam_params: {
        learning_rate: parameters.learningRate,
        beta1: parameters.beta1,
        beta2: parameters.beta2,
        eps: parameters.epsilon,
        weight_decay: parameters.weightDecay,
        grad_clip_norm: parameters.maxGradientNorm,
      },
    });
    return this.begin('optim_step', body, this.isRepeatable);
  }

  private async save(call: 'save_weights' | 'save_weights_for_sampler', options: object): Promise<string> {
    // Names can't be used twice.
    const taken = await this.beginFree(call, () => ({ path: randomUUID(), type: call, ...options }));
    return requireText(await this.client.result(taken, call), 'path');
  }

  /** Sends a call that changes nothing of the model: one whose answer is lost is made again, under another number. */
  private async beginFree(path: string, fields: object | (() => object)): Promise<TakenCall> {
    for (let numLeft = MAX_ATTEMPTS - 1; ; numLeft--) {
      try {
        const body = (seqId: number) => ({
          ...{ model_id: this.id, seq_id: seqId },
          ...(typeof fields === 'function' ? (fields as () => object)() : fields),
        });
        return await this.begin(path, body, false);
      } catch (error) {
        const isLost = error instanceof TinkerError && error.code === 'NO_ANSWER';
        if (!isLost || numLeft === 0) throw error;
      }
    }
  }

  private begin(path: string, body: (seqId: number) => object, isRepeatable: boolean): Promise<TakenCall> {
    const begun = this.sent.then(() => this.client.begin(path, body(++this.numCalls), { isRepeatable }));
    this.sent = begun.catch(() => undefined);
    return begun;
  }
}

function backwardBody(modelId: string, seqId: number, data: readonly Datum[]): object {
  return {
    model_id: modelId,
    seq_id: seqId,
    forward_backward_input: { data, loss_fn: 'importance_sampling' },
  };
}

function readLogprobs(answer: TinkerAnswer, data: readonly Datum[]): Float32Array[] {
  const outputs = requireList(answer, 'loss_fn_outputs');
  if (outputs.length !== data.length) {
    const message = `loss_fn_outputs must have one for each of ${data.length} data, has ${outputs.length}`;
    throw new TinkerError('MALFORMED_ANSWER', message);
  }
  return data.map(({ loss_fn_inputs: { target_tokens: targets } }, d) => {
    const { logprobs } = (outputs[d] ?? {}) as { readonly logprobs?: unknown };
    return requireTensor(logprobs, `loss_fn_outputs[${d}].logprobs`, targets.data.length);
  });
}

function readMetrics({ metrics }: TinkerAnswer): ReadonlyMap<string, number> {
  const entries = Object.entries((metrics ?? {}) as Readonly<Record<string, unknown>>);
  // JSON has no NaN: null is a number that is not finite.
  const numbers = entries.filter(([, value]) => typeof value === 'number' || value === null);
  return new Map(numbers.map(([name, value]) => [name, (value as number | null) ?? Number.NaN]));
}
