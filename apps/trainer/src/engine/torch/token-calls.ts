import {
  cutMicroBatches,
  type MicroBatch,
  type OutputGradients,
  type SequenceBatch,
  type TokenColumns,
} from '@retrace/policy';
import { TrainerError } from '../../trainer-error.js';
import type { EngineConnection } from './engine-connection.js';
import { decodeNumbers, encodeNumbers, encodeSequences } from './token-stream.js';

/** The weights that a forward pass uses: those that are trained, a fixed reference, or an average that moves. */
type Weights = 'current' | 'reference' | 'moving';

interface ForwardOptions {
  readonly temperature: number;
  readonly weights: Weights;
  readonly keepsGraph?: boolean;
  readonly squaredProbabilities?: boolean;
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

  /** The outputs of a micro-batch under the current weights. With `keepsGraph` the next `backward` is of this pass. */
  async outputs(
    microBatch: MicroBatch,
    { temperature, keepsGraph }: { readonly temperature: number; readonly keepsGraph: boolean },
  ): Promise<TokenColumns> {
    const outputs = await this.forward(microBatch, { temperature, weights: 'current', keepsGraph });
    return {
      logprobs: requireColumn(outputs, 'logprob'),
      entropies: requireColumn(outputs, 'entropy'),
      values: outputs.get('value') ?? null,
    };
  }

  async backward({ logprobs, entropies, values }: OutputGradients): Promise<void> {
    const body = encodeNumbers({ dLogprob: logprobs, dEntropy: entropies, dValue: values });
    await this.connection.change(`backward?graph=${this.numGraphs}`, body);
  }

  /** [S] V after the last token of each sequence. */
  async ends({ tokenIds, sequenceOffsets }: SequenceBatch): Promise<Float32Array> {
    const body = encodeSequences(tokenIds, sequenceOffsets, null);
    const answer = await this.connection.tokens('ends', body, { isNumbered: false });
    return requireColumn(decodeNumbers(answer, sequenceOffsets.length - 1), 'value');
  }

  private async forward(
    { tokenIds, sequenceOffsets, mask, positions }: MicroBatch,
    { temperature, weights, keepsGraph = false, squaredProbabilities = false }: ForwardOptions,
  ): Promise<ReadonlyMap<string, Float32Array>> {
    if (keepsGraph) this.numGraphs += 1;
    const query = new URLSearchParams({
      temperature: `${temperature}`,
      keepGraph: keepsGraph ? '1' : '0',
      squaredProbabilities: squaredProbabilities ? '1' : '0',
      weights,
      ...(keepsGraph ? { graph: `${this.numGraphs}` } : {}),
    });
    const body = encodeSequences(tokenIds, sequenceOffsets, mask);
    const answer = await this.connection.tokens(`forward?${query.toString()}`, body, {
      isNumbered: keepsGraph,
    });
    return decodeNumbers(answer, positions.length);
  }
}

function requireColumn(columns: ReadonlyMap<string, Float32Array>, name: string): Float32Array {
  const column = columns.get(name);
  if (column) return column;
  throw new TrainerError('ENGINE_LOST', `the engine's answer can't be used: column ${name} is missing`);
}
