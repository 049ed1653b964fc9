import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';

/* A server of the Tinker API for faults and for reductions that no real one here has. Its answers have the forms of SkyRL's, which `test:long -- tinker` tries. */

export interface StandInOptions {
  /** Directory of the base model; only its shape is read. */
  readonly baseModel: string;
  readonly reduction: 'sum' | 'datumMean';
  readonly clipsGradients: boolean;
  readonly repeatsAnswers: boolean;
  /** Multiplies epsilon, as a server that takes its own would (default 1). */
  readonly epsilonFactor?: number;
  /** The fate of a request; default `answer`. `lose` does what is asked and breaks the connection, `cut` breaks it in the middle of the answer. */
  readonly fate?: (path: string, body: Body) => 'answer' | 'lose' | 'cut' | { readonly status: number };
}

type Body = Readonly<Record<string, never>> & Record<string, unknown>;

/** A shape of adapters, and where its numbers lie in a vector. */
interface Layout {
  readonly tensors: readonly { readonly name: string; readonly shape: readonly [number, number] }[];
  readonly firstB: number;
  readonly numVocabulary: number;
}

interface Reply {
  readonly status: number;
  readonly body: object | Uint8Array;
  readonly isCut?: boolean;
}

/** A place for a model. */
interface Place {
  isTaken: boolean;
  readonly gradients: Float64Array;
  numData: number;
}

/** Of a model, as it is saved. */
interface State {
  weights: Float32Array;
  means: Float64Array;
  squares: Float64Array;
  numSteps: number;
}

interface Model extends State {
  readonly rank: number;
  readonly place: Place;
  readonly answers: Map<number, string>;
}

/**
 * The policy has one distribution for all contexts: the first numbers of the matrices B are its logits. So its gradients are a closed form, and all that a
 * trainer sees of it is as of a language model.
 */
export class TinkerStandIn {
  /** Paths of the calls so far, in order. */
  readonly calls: string[] = [];
  private readonly models = new Map<string, Model>();
  private readonly states = new Map<string, State>();
  private readonly samplers = new Map<string, Float32Array>();
  private readonly results = new Map<string, { readonly status: number; readonly body: object }>();
  private readonly ranks = new Map<string, number>();
  /** Gradients outlive the model that they were made for, as in SkyRL, and the next one in its place has them. */
  private readonly places: Place[] = [];
  private numIds = 0;

  private constructor(
    private readonly server: Server,
    readonly options: StandInOptions,
  ) {}

  static async start(options: StandInOptions): Promise<TinkerStandIn> {
    const server = createServer();
    const standIn = new TinkerStandIn(server, options);
    server.on('request', (request, response) => {
      void standIn.answer(request).then(
        (answer) => {
          if (answer === null) return response.destroy();
          const isFile = answer.body instanceof Uint8Array;
          const bytes = isFile ? Buffer.from(answer.body) : Buffer.from(JSON.stringify(answer.body));
          response.writeHead(answer.status, {
            'content-type': isFile ? 'application/gzip' : 'application/json',
            'content-length': bytes.length,
          });
          if (answer.isCut !== true) return response.end(bytes);
          return response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
        },
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get numStates(): number {
    return this.states.size;
  }

  get numModels(): number {
    return this.models.size;
  }

  /** Loses all models, and keeps what was saved, as a server does that starts again. */
  restart(): void {
    this.models.clear();
    this.places.length = 0;
  }

  private unload(id: string): void {
    const model = this.models.get(id);
    if (model) model.place.isTaken = false;
    this.models.delete(id);
  }

  private takePlace(length: number): Place {
    const free = this.places.find(({ isTaken, gradients }) => !isTaken && gradients.length === length);
    const place = free ?? { isTaken: true, gradients: new Float64Array(length), numData: 0 };
    if (free === undefined) this.places.push(place);
    place.isTaken = true;
    return place;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage): Promise<Reply | null> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const path = (request.url ?? '').replace('/api/v1/', '');
    const text = Buffer.concat(pieces).toString('utf8');
    const body = (text === '' ? {} : JSON.parse(text)) as Body;
    this.calls.push(path);
    const fate = this.options.fate?.(path, body) ?? 'answer';
    if (typeof fate === 'object') return { status: fate.status, body: { detail: 'refused by the test' } };
    const archive = /^training_runs\/[^/]+\/checkpoints\/([^/]+)\/archive$/.exec(path);
    const answer =
      archive === null
        ? { status: 200, body: this.dispatch(request.method ?? '', path, body) }
        : { status: 200, body: await this.archive(archive[1]) };
    if (fate === 'lose') return null;
    const known =
      path === 'retrieve_future' ? (this.results.get(String(body.request_id)) ?? notFound()) : answer;
    return { ...known, isCut: fate === 'cut' };
  }

  private dispatch(method: string, path: string, body: Body): object {
    if (method === 'DELETE') {
      const [, id, name] = /^training_runs\/([^/]+)\/checkpoints\/weights\/(.+)$/.exec(path) ?? [];
      this.states.delete(`tinker://${id}/weights/${name}`);
      return {};
    }
    switch (path) {
      case 'get_server_capabilities':
        return { supported_models: [{ model_name: this.options.baseModel }] };
      case 'create_session':
        return { session_id: this.newId('session') };
      case 'healthz':
      case 'session_heartbeat':
      case 'retrieve_future':
        return {};
      case 'create_model':
        return this.createModel(body);
      case 'unload_model':
        this.unload(String(body.model_id));
        return this.later(200, {});
      case 'asample':
        return this.sample(body);
      default:
        return this.applyOnce(path, body);
    }
  }

  /** A numbered call, of which each is applied once where the server repeats answers. */
  private applyOnce(path: string, body: Body): object {
    const model = this.models.get(String(body.model_id));
    if (model === undefined)
      return this.later(400, { detail: `Model ${body.model_id as string} not loaded` });
    const seqId = Number(body.seq_id);
    const known = model.answers.get(seqId);
    if (this.options.repeatsAnswers && known !== undefined) return { request_id: known };
    const answer = this.apply(path, body, model);
    model.answers.set(seqId, (answer as { readonly request_id: string }).request_id);
    return answer;
  }

  private apply(path: string, body: Body, model: Model): object {
    const id = String(body.model_id);
    switch (path) {
      case 'forward':
        return this.later(200, {
          loss_fn_outputs: this.passes(model, body.forward_input as PassInput, false),
        });
      case 'forward_backward':
        return this.later(200, {
          loss_fn_outputs: this.passes(model, body.forward_backward_input as PassInput, true),
        });
      case 'optim_step':
        return this.later(200, {
          metrics: { 'stand.in/grad_norm': this.step(model, body.adam_params as Adam) },
        });
      case 'save_weights': {
        const saved = `tinker://${id}/weights/${body.path as string}`;
        this.states.set(saved, copyState(model));
        return this.later(200, { path: saved });
      }
      case 'save_weights_for_sampler':
        this.samplers.set(String(body.path), model.weights.slice());
        this.ranks.set(String(body.path), model.rank);
        return this.later(200, { path: `tinker://${id}/${body.path as string}` });
      case 'load_weights': {
        const saved = this.states.get(String(body.path));
        if (!saved) return this.later(404, { detail: `Checkpoint not found: ${body.path as string}` });
        Object.assign(model, body.optimizer === true ? copyState(saved) : { weights: saved.weights.slice() });
        return this.later(200, {});
      }
      default:
        throw new Error(`unknown call ${path}`);
    }
  }

  private createModel(body: Body): object {
    const id = this.newId('model');
    const { rank, seed } = body.lora_config as { readonly rank: number; readonly seed: number };
    const { tensors, firstB } = this.layout(rank);
    const length = tensors.reduce((sum, { shape }) => sum + shape[0] * shape[1], 0);
    const zeros = () => new Float64Array(length);
    this.models.set(id, {
      rank,
      weights: Float32Array.from({ length }, (_, n) => (n < firstB ? Math.sin(seed + n) / 10 : 0)),
      ...{
        place: this.takePlace(length),
        means: zeros(),
        squares: zeros(),
        numSteps: 0,
        answers: new Map(),
      },
    });
    return this.later(200, { model_id: id });
  }

  /** Logprobs of all targets; with gradients, those of −exp(log π − l)·A are added. */
  private passes(model: Model, { data }: PassInput, isBackward: boolean): object[] {
    const { firstB, numVocabulary } = this.layout(model.rank);
    const ofTokens = this.logprobsOf(model.weights, model.rank);
    const logprob = (token: number) => ofTokens[token];
    return data.map(({ loss_fn_inputs: { target_tokens: targets, weights, logprobs, advantages } }) => {
      const all = targets.data.map(logprob);
      const counted = weights.data.reduce((sum, weight) => sum + weight, 0);
      if (isBackward) model.place.numData += 1;
      targets.data.forEach((token, t) => {
        if (!isBackward || weights.data[t] === 0) return;
        const share = this.options.reduction === 'sum' ? 1 : weights.data[t] / counted;
        const by = -Math.exp(all[t] - (logprobs?.data[t] ?? 0)) * (advantages?.data[t] ?? 0) * share;
        for (let v = 0; v < numVocabulary; v++)
          model.place.gradients[firstB + v] += by * (Number(v === token) - Math.exp(logprob(v)));
      });
      return { logprobs: { data: all, dtype: 'float32', shape: [all.length] } };
    });
  }

  /** Draws each token by a number that follows from the seed. A policy is gone with the model that it was saved from. */
  private sample(body: Body): { readonly request_id: string } {
    const [id, name] = (body.model_path as string).replace('tinker://', '').split('/');
    const weights = this.samplers.get(name);
    if (!this.models.has(id) || weights === undefined)
      return this.later(400, { detail: `Model ${id} not loaded` });
    const { max_tokens: maxTokens, seed, stop } = body.sampling_params as SamplingInput;
    const logprobs = this.logprobsOf(weights, this.ranks.get(name) ?? 1);
    const tokens: number[] = [];
    while (tokens.length < maxTokens && !stop.includes(tokens.at(-1) ?? -1)) {
      let left = Math.abs(Math.sin(seed + 7 * tokens.length + 1));
      const token = logprobs.findIndex((logprob) => (left -= Math.exp(logprob)) <= 0);
      tokens.push(token < 0 ? logprobs.length - 1 : token);
    }
    const prompt = (body.prompt as { readonly chunks: readonly { readonly tokens: readonly number[] }[] })
      .chunks[0];
    return this.later(200, {
      sequences: [
        {
          ...{ tokens, logprobs: tokens.map((token) => logprobs[token]) },
          stop_reason: stop.includes(tokens.at(-1) ?? -1) ? 'stop' : 'length',
        },
      ],
      prompt_logprobs: [null, ...prompt.tokens.slice(1).map((token) => logprobs[token])],
    });
  }

  /** log π of each token. */
  private logprobsOf(weights: Float32Array, rank: number): readonly number[] {
    const { firstB, numVocabulary } = this.layout(rank);
    const logits = Array.from(weights.subarray(firstB, firstB + numVocabulary));
    const highest = Math.max(...logits);
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0);
    return logits.map((logit) => logit - highest - Math.log(total));
  }

  /** AdamW on the mean or sum of the gradients, and their norm before they are scaled down. */
  private step(model: Model, adam: Adam): number {
    const { reduction, clipsGradients, epsilonFactor = 1 } = this.options;
    const divisor = reduction === 'sum' ? 1 : Math.max(1, model.place.numData);
    const gradients = model.place.gradients.map((value) => value / divisor);
    const norm = Math.hypot(...gradients);
    const isScaled = clipsGradients && adam.grad_clip_norm > 0 && norm > adam.grad_clip_norm;
    const factor = isScaled ? adam.grad_clip_norm / norm : 1;
    model.numSteps += 1;
    gradients.forEach((gradient, n) => {
      const g = gradient * factor;
      model.means[n] = adam.beta1 * model.means[n] + (1 - adam.beta1) * g;
      model.squares[n] = adam.beta2 * model.squares[n] + (1 - adam.beta2) * g * g;
      const mean = model.means[n] / (1 - adam.beta1 ** model.numSteps);
      const root = Math.sqrt(model.squares[n] / (1 - adam.beta2 ** model.numSteps));
      const decay = adam.weight_decay * model.weights[n];
      model.weights[n] -= adam.learning_rate * (mean / (root + adam.eps * epsilonFactor) + decay);
    });
    model.place.gradients.fill(0);
    model.place.numData = 0;
    return norm;
  }

  private async archive(name: string): Promise<Uint8Array> {
    const weights = this.samplers.get(name);
    if (weights === undefined) throw new Error(`no sampler ${name}`);
    const rank = this.ranks.get(name) ?? 1;
    const directory = await mkdtemp(join(tmpdir(), 'retrace-stand-in-'));
    try {
      const config = { peft_type: 'LORA', r: rank, lora_alpha: 32 };
      await writeFile(join(directory, 'adapter_config.json'), JSON.stringify(config));
      await writeFile(join(directory, 'adapter_model.safetensors'), encode(this.layout(rank), weights));
      const names = ['adapter_config.json', 'adapter_model.safetensors'];
      const pieces: Buffer[] = [];
      for await (const piece of create({ cwd: directory, gzip: true }, names))
        pieces.push(Buffer.from(piece));
      return Buffer.concat(pieces);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  private layout(rank: number): Layout {
    const config = JSON.parse(readFileSync(join(this.options.baseModel, 'config.json'), 'utf8')) as Shape;
    return makeLayout(config, rank);
  }

  private later(status: number, body: object): { readonly request_id: string } {
    const id = this.newId('request');
    this.results.set(id, { status, body });
    return { request_id: id };
  }

  private newId(kind: string): string {
    return `${kind}-${++this.numIds}`;
  }
}

interface Adam {
  readonly learning_rate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weight_decay: number;
  readonly grad_clip_norm: number;
}

interface SamplingInput {
  readonly max_tokens: number;
  readonly seed: number;
  readonly stop: readonly number[];
}

interface Column {
  readonly data: readonly number[];
}

interface PassInput {
  readonly data: readonly {
    readonly loss_fn_inputs: {
      readonly target_tokens: Column;
      readonly weights: Column;
      readonly logprobs?: Column;
      readonly advantages?: Column;
    };
  }[];
}

interface Shape {
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly vocab_size: number;
}

function notFound() {
  return { status: 404, body: { detail: 'Future not found' } };
}

function copyState({ weights, means, squares, numSteps }: State): State {
  return { numSteps, weights: weights.slice(), means: means.slice(), squares: squares.slice() };
}

/** All matrices A, and then all B. */
function makeLayout(config: Shape, rank: number): Layout {
  const { hidden_size: hidden, intermediate_size: inner, head_dim: width } = config;
  const queries = config.num_attention_heads * width;
  const keys = config.num_key_value_heads * width;
  const projections: readonly (readonly [string, number, number])[] = [
    ['self_attn.q_proj', hidden, queries],
    ['self_attn.k_proj', hidden, keys],
    ['self_attn.v_proj', hidden, keys],
    ['self_attn.o_proj', queries, hidden],
    ['mlp.gate_proj', hidden, inner],
    ['mlp.up_proj', hidden, inner],
    ['mlp.down_proj', inner, hidden],
  ];
  const all = Array.from({ length: config.num_hidden_layers }, (_, layer) =>
    projections.map(
      ([name, from, to]) => [`base_model.model.model.layers.${layer}.${name}`, from, to] as const,
    ),
  ).flat();
  const a = all.map(([name, from]) => ({ name: `${name}.lora_A.weight`, shape: [rank, from] as const }));
  const b = all.map(([name, , to]) => ({ name: `${name}.lora_B.weight`, shape: [to, rank] as const }));
  const firstB = a.reduce((sum, { shape }) => sum + shape[0] * shape[1], 0);
  return { tensors: [...a, ...b], firstB, numVocabulary: config.vocab_size };
}

/** As a safetensors file. */
function encode({ tensors }: Layout, weights: Float32Array): Buffer {
  const header: Record<string, object> = {};
  let end = 0;
  for (const { name, shape } of tensors) {
    const start = end;
    end += 4 * shape[0] * shape[1];
    header[name] = { dtype: 'F32', shape, data_offsets: [start, end] };
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength)]);
}
