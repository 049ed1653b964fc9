import type { Recipe } from '@retrace/config';
import type { BackendName } from '@retrace/compute';
import type { GradientWorkers, ShardGradient, ShardJob } from '@retrace/policy';
import { TrainerError } from '../trainer-error.js';
import { ExchangeFile } from './exchange-file.js';
import { WorkerProcess } from './worker-process.js';

export interface WorkerPoolOptions {
  readonly recipe: Recipe;
  readonly vocabSize: number;
  readonly tokenizerHash: string;
  /** That of the trainer: every process computes on the same kind of device. */
  readonly backend: BackendName;
  /** The machine's GPUs. The process of rank r gets number r mod their count; rank 0 is the trainer. */
  readonly gpus: readonly string[];
  /** That of the trainer's own model. */
  readonly modelHash: string;
  /** Values of what is trained; sizes the memory that is shared. */
  readonly numTrainedValues: number;
  readonly onNotice: (line: string) => void;
}

const BYTES_PER_VALUE = 4;

/**
 * The other processes of a data parallel trainer, one a shard beyond its own, each on a GPU of its own where there are several.
 * Weights and gradients pass through shared memory, batches and figures through the processes' channels.
 *
 * A worker that dies is started again and gets its job once more, since a job is all that a worker needs; the result is the
 * same bits. One that dies twice over the same job ends the update with `WORKER_LOST`, and nothing of it is committed.
 */
export class WorkerPool implements GradientWorkers {
  private readonly exchange: ExchangeFile;
  private readonly workers: WorkerProcess[] = [];

  private constructor(
    private readonly options: WorkerPoolOptions,
    numWorkers: number,
  ) {
    this.exchange = ExchangeFile.create((numWorkers + 1) * options.numTrainedValues * BYTES_PER_VALUE);
  }

  /** @throws TrainerError `WORKER_LOST`, PolicyError; no process is left running then. */
  static async start(numWorkers: number, options: WorkerPoolOptions): Promise<WorkerPool> {
    const pool = new WorkerPool(options, numWorkers);
    try {
      await Promise.all(Array.from({ length: numWorkers }, (_, index) => pool.open(index)));
      return pool;
    } catch (error) {
      await pool.stop();
      throw error;
    }
  }

  /** Process ids, by rank from 1. */
  get pids(): readonly number[] {
    return this.workers.map(({ pid }) => pid);
  }

  async compute(
    weights: readonly Float32Array[],
    jobs: readonly ShardJob[],
  ): Promise<readonly ShardGradient[]> {
    await this.exchange.write(weights, 0);
    const lengths = weights.map(({ length }) => length);
    const settled = await Promise.allSettled(jobs.map((job, index) => this.computeOn(index, job, lengths)));
    return settled.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.stop()));
    await this.exchange.close();
  }

  private async computeOn(
    index: number,
    job: ShardJob,
    weightLengths: readonly number[],
  ): Promise<ShardGradient> {
    const gradientPosition = (index + 1) * this.options.numTrainedValues * BYTES_PER_VALUE;
    const request = () =>
      this.workers[index].request({
        type: 'compute',
        job,
        weights: { lengths: weightLengths, position: 0 },
        gradientPosition,
      });
    const answer = await request().catch(async (error: unknown) => {
      if (!this.workers[index].hasEnded) throw error;
      this.options.onNotice(
        `${(error as Error).message}; it is started again and gets its part of the batch once more`,
      );
      await this.open(index);
      return request();
    });
    if (answer.type !== 'computed') throw new TypeError(`worker ${index + 1} answered ${answer.type}`);
    return { terms: answer.terms, gradients: await this.exchange.read(answer.lengths, gradientPosition) };
  }

  private async open(index: number): Promise<void> {
    const { recipe, vocabSize, tokenizerHash, backend, gpus, modelHash } = this.options;
    const worker = new WorkerProcess({
      rank: index + 1,
      environment: { ...process.env, ...onlyGpu(index + 1, gpus) },
      exchangeDescriptor: this.exchange.descriptor,
    });
    this.workers[index] = worker;
    const answer = await worker.request({ type: 'open', recipe, vocabSize, tokenizerHash, backend });
    if (answer.type === 'opened' && answer.modelHash === modelHash) return;
    throw new TrainerError(
      'WORKER_LOST',
      `data parallel worker ${index + 1} has another model than the trainer: the files of ${recipe.policy?.model ?? 'the recipe'} were changed`,
    );
  }
}

/** The environment that leaves one GPU visible to the process of that rank; empty where there is none. */
function onlyGpu(rank: number, gpus: readonly string[]): { readonly CUDA_VISIBLE_DEVICES?: string } {
  return gpus.length === 0 ? {} : { CUDA_VISIBLE_DEVICES: gpus[rank % gpus.length] };
}
