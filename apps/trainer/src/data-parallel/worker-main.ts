import { matrixProducts } from '@retrace/config';
import { assignTrainedWeights, CheckpointFiles, PolicyError } from '@retrace/policy';
import { ComputeError, openBackend } from '@retrace/compute';
import { TensorflowEngine } from '../engine/tensorflow-engine.js';
import { ExchangeFile } from './exchange-file.js';
import {
  EXCHANGE_DESCRIPTOR,
  type FromWorker,
  type ToWorker,
  type WorkerFailure,
} from './worker-protocol.js';

/**
 * A data parallel worker as a process: a replica of the policy that computes gradients of the shards that its trainer sends.
 * It keeps no state between jobs, and ends when its trainer does.
 */
const exchange = new ExchangeFile(EXCHANGE_DESCRIPTOR);
let engine: TensorflowEngine | null = null;

async function answer(message: ToWorker): Promise<FromWorker> {
  if (message.type === 'open') {
    await openBackend({ ...matrixProducts(message.recipe), prefer: [message.backend] });
    engine = await TensorflowEngine.open({
      recipe: { ...message.recipe, initFrom: null },
      vocabSize: message.vocabSize,
      tokenizerHash: message.tokenizerHash,
      // The trainer sends the weights; a worker reads and writes no checkpoint.
      checkpoints: new CheckpointFiles('/nonexistent'),
    });
    return { type: 'opened', modelHash: engine.modelHash };
  }
  if (engine === null) throw new Error('a job came before the model');
  const { job, weights, gradientPosition } = message;
  assignTrainedWeights(engine.model, await exchange.read(weights.lengths, weights.position));
  const terms = await engine.optimizer.accumulate(job.batch, job.options, job.selected);
  const gradients = await engine.optimizer.takeGradients();
  await exchange.write(gradients, gradientPosition);
  return { type: 'computed', terms, lengths: gradients.map(({ length }) => length) };
}

function toFailure(error: unknown): WorkerFailure | null {
  if (error instanceof ComputeError) return { thrownBy: 'compute', code: error.code };
  if (error instanceof PolicyError) return { thrownBy: 'policy', code: error.code };
  return null;
}

process.on('message', (message: ToWorker) => {
  void answer(message)
    .catch((error: unknown): FromWorker => ({
      type: 'failed',
      failure: toFailure(error),
      message: error instanceof Error ? error.message : String(error),
    }))
    .then((reply) => process.send?.(reply));
});
process.once('disconnect', () => {
  process.exit(0);
});
// Ctrl-C reaches the whole process group; a worker ends when its trainer disconnects.
process.on('SIGINT', () => undefined);
