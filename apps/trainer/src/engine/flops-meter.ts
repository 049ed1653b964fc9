import type { TransformerConfig } from '@retrace/policy';
import type { MetricEntries } from '../metric-entries.js';
import type { UpdateEngine } from './update-engine.js';

/** The part of a transformer's shape that its FLOPs depend on. */
export type FlopsShape = Pick<
  TransformerConfig,
  | 'vocabSize'
  | 'hiddenSize'
  | 'numLayers'
  | 'numHeads'
  | 'numKeyValueHeads'
  | 'headDim'
  | 'intermediateSize'
  | 'valueTrunk'
>;

/**
 * Estimates the FLOPs of forward and backward over sequences of `l_s` tokens: 6·N·Σ l_s + 12·Σ l_s²·heads·headDim·layers, where N counts the
 * weights of all matrices: those of the layers, the embedding and the output head. Layers that are computed again for the gradient, adapters
 * that leave the base as it is, and the half of the attention that the causal mask hides change nothing, so that figures compare with verl's.
 *
 * Source: `_estimate_qwen2_flops` of verl, verl/utils/flops_counter.py, for dense models of Llama and Qwen2.
 *
 * @param sequenceOffsets [S+1]
 */
export function estimateFlops(shape: FlopsShape, sequenceOffsets: Int32Array): number {
  const { vocabSize, hiddenSize, numLayers, numHeads, numKeyValueHeads, headDim, intermediateSize } = shape;
  const feedForward = 3 * hiddenSize * intermediateSize;
  const projections = hiddenSize * headDim * 2 * (numHeads + numKeyValueHeads);
  const numWeights = numLayers * (feedForward + projections) + 2 * vocabSize * hiddenSize;
  let numTokens = 0;
  let sumOfSquares = 0;
  for (let s = 1; s < sequenceOffsets.length; s++) {
    const length = sequenceOffsets[s] - sequenceOffsets[s - 1];
    numTokens += length;
    sumOfSquares += length * length;
  }
  return 6 * numWeights * numTokens + 12 * sumOfSquares * numHeads * headDim * numLayers;
}

/** Counts the FLOPs of an update's gradients, and the seconds that they and the optimizer took. */
export class FlopsMeter {
  private flops = 0;
  private milliseconds = 0;

  constructor(private readonly shape: FlopsShape) {}

  /** The same engine, of which `accumulate` and `step` are counted. */
  watch(engine: UpdateEngine): UpdateEngine {
    const counted: Pick<UpdateEngine, 'accumulate' | 'step'> = {
      accumulate: async (batch, loss) => {
        const terms = await this.timed(() => engine.accumulate(batch, loss));
        // A critic with a transformer of its own, unless only one of the two is trained.
        const isTwice = this.shape.valueTrunk === 'own' && (loss.trains ?? 'all') === 'all';
        this.flops += (isTwice ? 2 : 1) * estimateFlops(this.shape, batch.sequenceOffsets);
        return terms;
      },
      step: (options) => this.timed(() => engine.step(options)),
    };
    return new Proxy(engine, {
      get(target, name) {
        const value: unknown = Reflect.get(name in counted ? counted : target, name);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  /**
   * FLOP/s of all processes together, and their share of what the processes could do.
   *
   * @param peakFlops of one process, in FLOP/s; without it there is no share
   */
  metrics(numProcesses: number, peakFlops?: number): MetricEntries {
    if (this.flops === 0) return [];
    const flopsPerSecond = (1000 * this.flops) / this.milliseconds;
    return [
      ['perf/flopsPerSecond', flopsPerSecond],
      ...(peakFlops === undefined
        ? []
        : [['perf/mfu', flopsPerSecond / (peakFlops * numProcesses)] as const]),
    ];
  }

  private async timed<T>(work: () => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    try {
      return await work();
    } finally {
      this.milliseconds += performance.now() - startedMs;
    }
  }
}
