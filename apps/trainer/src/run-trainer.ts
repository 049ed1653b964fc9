import { randomUUID } from 'node:crypto';
import { matrixProducts, parseRecipe } from '@retrace/config';
import type { RunRoleConfig, Supervised } from '@retrace/process';
import { getEnvironment } from '@retrace/environments';
import { CheckpointFiles, openPolicyText } from '@retrace/policy';
import { openBackend, visibleGpus } from '@retrace/compute';
import { RewardScorer, StateVisits, VerdictArchive, VerdictStore } from '@retrace/scoring';
import { createStoreClient, TrajectoryReader, untilVisible } from '@retrace/store';
import { ControlTail, openLog, PatientLog } from '@retrace/log';
import { deviceOf, WorkerPool } from './data-parallel/worker-pool.js';
import { saveTokenizer } from './checkpoint/save-tokenizer.js';
import { Trainer } from './trainer.js';

/** What it has computed is worth waiting for a log that is away; after this long somebody should look. */
const logPatienceMs = 60 * 60 * 1000;

function onNotice(line: string): void {
  process.stderr.write(`trainer: ${line.replaceAll('\n', ' ')}\n`);
}

/** Trains one run until it ends, or until the process is asked to stop. */
export async function runTrainer(config: RunRoleConfig, supervised: Supervised): Promise<void> {
  const { runId } = config;
  const log = new PatientLog(await openLog(config.log, 'trainer'), {
    signal: supervised.signal,
    patienceMs: logPatienceMs,
    onNotice,
  });
  const control = new ControlTail(log);
  await control.catchUp();
  const recipe = parseRecipe(control.run(runId).started.recipe);
  const numShards = recipe.optimizer.dataParallel ?? 1;
  const gpus = numShards > 1 ? visibleGpus() : [];
  // Before TensorFlow looks.
  Object.assign(process.env, deviceOf(0, gpus));
  const backend = await openBackend({
    ...matrixProducts(recipe),
    prefer: config.backend === null ? undefined : [config.backend],
  });
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: getEnvironment(recipe.environment).words,
    directory: recipe.policy?.model,
  });
  await saveTokenizer(config.tokenizerDirectory, tokenizer);
  const client = createStoreClient(config.store);
  const reader = new TrajectoryReader(client);
  const trainer = await Trainer.start({
    runId,
    trainerId: randomUUID(),
    recipe,
    rewards: await RewardScorer.load(recipe.reward, {
      verdicts: new VerdictStore({ log, reader, runId }),
      judge: { archive: new VerdictArchive(client) },
      visits: new StateVisits({ client, runId, untilStored: () => untilVisible(log, client) }),
    }),
    startWorkers: (policy) =>
      WorkerPool.start(numShards - 1, {
        recipe,
        vocabSize: tokenizer.vocabSize,
        tokenizerHash: tokenizer.hash,
        backend: backend.name,
        gpus,
        modelHash: policy.modelHash,
        numTrainedValues: policy.numTrainedValues,
        onNotice,
      }),
    log,
    control,
    checkpoints: new CheckpointFiles(config.checkpointDirectory),
    vocabSize: tokenizer.vocabSize,
    tokenizerHash: tokenizer.hash,
    reader,
    signal: supervised.signal,
    onProgress: (detail) => {
      supervised.send({ type: 'progress', detail });
    },
  });
  supervised.send({ type: 'ready', detail: backend.reason });
  await trainer.run();
  control.close();
  await client.close();
  await log.close();
}
