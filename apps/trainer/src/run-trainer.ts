import { randomUUID } from 'node:crypto';
import { matrixProducts, parseRecipe } from '@retrace/config';
import type { RunRoleConfig, Supervised } from '@retrace/process';
import { readEnvironment } from '@retrace/environment-sources';
import { CheckpointFiles, openPolicyText } from '@retrace/policy';
import { openBackend, readComputeEnvironment } from '@retrace/compute';
import {
  RewardScorer,
  StateVisits,
  VerdictArchive,
  VerdictStore,
  type JudgeClientOptions,
  type RewardScorerOptions,
} from '@retrace/scoring';
import { createStoreClient, TrajectoryReader, untilVisible, type StoreClient } from '@retrace/store';
import { ControlTail, openLog, PatientLog, WarningLog, type EventLog } from '@retrace/log';
import type { RunState } from '@retrace/trajectory';
import { openSharedEngine } from './data-parallel/open-shared-engine.js';
import { saveTokenizer } from './checkpoint/save-tokenizer.js';
import { Trainer } from './trainer.js';

/** How long the trainer keeps what it has computed and waits for an unavailable log, before it ends with an error. */
const LOG_PATIENCE_MS = 60 * 60 * 1000;

/**
 * Trains one run until it ends, or until the process is asked to stop. Returns the run's state.
 *
 * @param apiKeys of judges, by the names that recipes call them by
 */
export async function runTrainer(
  config: RunRoleConfig,
  supervised: Supervised,
  apiKeys: JudgeClientOptions['apiKeys'],
): Promise<RunState> {
  const { runId } = config;
  const onNotice = (message: string): void => {
    warnings.raise({ source: 'trainer', message });
  };
  const log = new PatientLog(await openLog(config.log, 'trainer'), {
    signal: supervised.signal,
    patienceMs: LOG_PATIENCE_MS,
    onNotice,
  });
  const control = new ControlTail(log);
  const warnings = new WarningLog({ control, runId, show: supervised.warn });
  await control.catchUp();
  const recipe = parseRecipe(control.run(runId).started.recipe);
  const environment = readComputeEnvironment();
  const gpus = (recipe.optimizer.dataParallel ?? 1) > 1 ? environment.gpus : [];
  const backend = await openBackend({
    ...matrixProducts(recipe),
    environment,
    visibleGpu: gpus[0],
    prefer: config.backend === null ? undefined : [config.backend],
  });
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: (await readEnvironment(recipe.environment)).words,
    directory: recipe.policy?.model,
  });
  await saveTokenizer(config.tokenizerDirectory, tokenizer);
  const client = createStoreClient(config.store);
  const reader = new TrajectoryReader(client);
  const checkpoints = new CheckpointFiles(config.checkpointDirectory);
  const trainer = await Trainer.start({
    runId,
    trainerId: randomUUID(),
    recipe,
    rewards: await RewardScorer.load(recipe.reward, rewardSources({ log, client, reader, runId }, apiKeys)),
    openEngine: () =>
      openSharedEngine(
        { recipe, checkpoints, vocabSize: tokenizer.vocabSize, tokenizerHash: tokenizer.hash },
        { backend: backend.name, gpus, onNotice },
      ),
    log,
    control,
    checkpoints,
    reader,
    signal: supervised.signal,
    warnings,
  });
  supervised.send({ type: 'ready', detail: backend.reason });
  await trainer.run();
  await warnings.flush();
  control.close();
  await client.close();
  await log.close();
  return control.run(runId);
}

/** Where the rewards of a run find verdicts and visits. */
function rewardSources(
  {
    log,
    client,
    reader,
    runId,
  }: {
    readonly log: EventLog;
    readonly client: StoreClient;
    readonly reader: TrajectoryReader;
    readonly runId: string;
  },
  apiKeys: JudgeClientOptions['apiKeys'],
): RewardScorerOptions {
  return {
    verdicts: new VerdictStore({ log, reader, runId }),
    judge: { archive: new VerdictArchive(client), apiKeys },
    visits: new StateVisits({ client, runId, untilStored: () => untilVisible(log, client) }),
  };
}
