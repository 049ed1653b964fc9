import {
  cutMicroBatches,
  type MicroBatch,
  type OutputGradients,
  type PassOptions,
  type SequenceBatch,
  type TeacherTop,
  type TokenColumns,
} from '@retrace/policy';
import type { ChosenIds } from '@retrace/compute';
import { TrainerError } from '../../trainer-error.js';
import type { TaughtLogprobs } from '../update-engine.js';
import type { EngineConnection } from './engine-connection.js';
import { decodeNumbers, encodeNumbers, encodeSequences, type AnsweredColumns } from './token-stream.js';

/** The weights that a forward pass uses: those that are trained, a fixed reference, or an average that moves. */
type Weights = 'current' | 'reference' | 'moving';

interface ForwardOptions {
  readonly temperature: number;
  readonly weights: Weights;
  readonly keepsGraph?: boolean;
  readonly squaredProbabilities?: boolean;
  /** Ids whose logprobs are wanted beside those of the tokens. */
  readonly chosen?: ChosenIds | null;
  /** How many of the likeliest ids are wanted. */
  readonly topK?: number;
}

/** Columns of the wire, in the order of the answers. */
type OutputName = 'logprob' | 'entropy' | 'value' | 'squaredProbabilities';

/** The calls of a worker that carry tokens: forward passes, and the derivatives by their outputs. */
export class TokenCalls {
  private numGraphs = 0;

  constructor(
    private readonly connection: EngineConnection,
    /** Most tokens of one pass. */
    private readonly maxTokens: number,
  ) {}

  /** The outputs of a batch by name, each [N] and 0 where the mask is; micro-batch by micro-batch. */
  async evaluate<Name extends OutputName>(
    batch: SequenceBatch,
    names: readonly Name[],
    { mask, ...options }: ForwardOptions & { readonly mask: Uint8Array },
  ): Promise<Readonly<Record<Name, Float32Array>>> {
    const columns = names.map((name) => [name, new Float32Array(batch.tokenIds.length)] as const);
    for (const microBatch of cutMicroBatches(batch, mask, this.maxTokens)) {
      const outputs = await this.forward(microBatch, options);
      for (const [name, column] of columns) {
        const values = requireColumn(outputs, name);
        microBatch.positions.forEach((n, m) => {
          column[n] = values[m];
        });
      }
    }
    return Object.fromEntries(columns) as Record<Name, Float32Array>;
  }

  /** Logprobs of a batch [N], and the likeliest ids at the tokens of the mask. */
  async likeliest(
    batch: SequenceBatch,
    { mask, topK, ...options }: ForwardOptions & { readonly mask: Uint8Array; readonly topK: number },
  ): Promise<TaughtLogprobs> {
    const microBatches = cutMicroBatches(batch, mask, this.maxTokens);
    const numRows = microBatches.reduce((sum, { positions }) => sum + positions.length, 0);
    const logprobs = new Float32Array(batch.tokenIds.length);
    const top: TeacherTop = {
      topK,
      rows: new Int32Array(batch.tokenIds.length).fill(-1),
      ids: new Int32Array(numRows * topK),
      logprobs: new Float32Array(numRows * topK),
    };
    let row = 0;
    for (const microBatch of microBatches) {
      const outputs = await this.forward(microBatch, { ...options, topK });
      const ofTokens = requireColumn(outputs, 'logprob');
      top.ids.set(requireIds(outputs), row * topK);
      top.logprobs.set(requireColumn(outputs, 'topLogprob'), row * topK);
      for (const [m, n] of microBatch.positions.entries()) {
        logprobs[n] = ofTokens[m];
        top.rows[n] = row++;
      }
    }
    return { logprobs, top };
  }

  /** The outputs of a micro-batch under the current weights. With `keepsGraph` the next `backward` is of this pass. */
  async outputs(microBatch: MicroBatch, options: PassOptions): Promise<TokenColumns> {
    const outputs = await this.forward(microBatch, { ...options, weights: 'current' });
    return {
      logprobs: requireColumn(outputs, 'logprob'),
      entropies: requireColumn(outputs, 'entropy'),
      values: outputs.float32s.get('value') ?? null,
      topLogprobs: options.chosen && requireColumn(outputs, 'topLogprob'),
    };
  }

  async backward({ logprobs, entropies, values, topLogprobs }: OutputGradients): Promise<void> {
    const columns = { dLogprob: logprobs, dEntropy: entropies, dValue: values };
    const body = encodeNumbers({ ...columns, dTopLogprob: topLogprobs });
    await this.connection.change(`backward?graph=${this.numGraphs}`, body);
  }

  /** [S] V after the last token of each sequence. */
  async ends({ tokenIds, sequenceOffsets }: SequenceBatch): Promise<Float32Array> {
    const body = encodeSequences({ tokenIds, sequenceOffsets });
    const answer = await this.connection.tokens('ends', body, { isNumbered: false });
    return requireColumn(decodeNumbers(answer, sequenceOffsets.length - 1), 'value');
  }

  private async forward(
    microBatch: MicroBatch,
    {
      temperature,
      weights,
      keepsGraph = false,
      squaredProbabilities = false,
      chosen = null,
      topK = 0,
    }: ForwardOptions,
  ): Promise<AnsweredColumns> {
    if (keepsGraph) this.numGraphs += 1;
    const query = new URLSearchParams({
      temperature: `${temperature}`,
      keepGraph: keepsGraph ? '1' : '0',
      squaredProbabilities: squaredProbabilities ? '1' : '0',
      weights,
      topIds: `${chosen?.numPerRow ?? 0}`,
      topK: `${topK}`,
      ...(keepsGraph ? { graph: `${this.numGraphs}` } : {}),
    });
    const body = encodeSequences(microBatch, chosen);
    const answer = await this.connection.tokens(`forward?${query.toString()}`, body, {
      isNumbered: keepsGraph,
    });
    return decodeNumbers(answer, microBatch.positions.length);
  }
}

function requireColumn({ float32s }: AnsweredColumns, name: string): Float32Array {
  return float32s.get(name) ?? missing(name);
}

function requireIds({ int32s }: AnsweredColumns): Int32Array {
  return int32s.get('topId') ?? missing('topId');
}

function missing(name: string): never {
  throw new TrainerError('ENGINE_LOST', `the engine's answer can't be used: column ${name} is missing`);
}
