import { randomUUID } from 'node:crypto';
import { matrixProducts, parseRecipe, type Recipe } from '@retrace/config';
import type { RunRoleConfig, Supervised, TrainerConfig } from '@retrace/process';
import { readEnvironment } from '@retrace/environment-sources';
import {
  checkpointsAt,
  openPolicyText,
  OfferFile,
  type OfferedPolicy,
  type PolicyText,
} from '@retrace/policy';
import { openBackend, readComputeEnvironment } from '@retrace/compute';
import {
  RewardScorer,
  AssignedRewards,
  StateVisits,
  VerdictArchive,
  VerdictStore,
  type JudgeClientOptions,
  type RewardScorerOptions,
} from '@retrace/rewards/scoring';
import { createStoreClient, TrajectoryReader, untilVisible, type StoreClient } from '@retrace/store';
import { ControlTail, openLog, PatientLog, WarningLog, type EventLog } from '@retrace/log';
import type { Json, RunState } from '@retrace/trajectory';
import type { KnownEvents } from '@retrace/trajectory/codec';
import { openEndpointTeacher } from './teacher/endpoint-teacher.js';
import { openSharedEngine } from './data-parallel/open-shared-engine.js';
import { recipeModelConfig } from './engine/recipe-model.js';
import { saveTokenizer } from './checkpoint/save-tokenizer.js';
import { WholeLogEpisodes, needsStore } from './fresh-episodes/whole-log-episodes.js';
import { Trainer } from './trainer.js';

/** How long the trainer keeps what it has computed and waits for an unavailable log, before it ends with an error. */
const LOG_PATIENCE_MS = 60 * 60 * 1000;

/** Parts that a trainer has in common with a collector of its process. */
interface SharedParts {
  /** Open already; the caller closes it. */
  readonly log: EventLog;
  readonly offered: OfferedPolicy;
  /** Has what the collector writes. */
  readonly known: KnownEvents;
}

/**
 * Trains one run until it ends, or until the process is asked to stop. Returns the run's state.
 *
 * @param variables the process's environment, which has API keys of judges and of a teacher by the names that recipes call them by
 * @param shared where a collector is in the same process
 */
export async function runTrainer(
  config: TrainerConfig,
  supervised: Supervised,
  variables: NonNullable<JudgeClientOptions['apiKeys']>,
  shared?: SharedParts,
): Promise<RunState> {
  const { runId } = config;
  const { signal } = supervised;
  const onNotice = (message: string): void => {
    warnings.raise({ source: 'trainer', message });
  };
  const patience = { signal, patienceMs: LOG_PATIENCE_MS, onNotice };
  const log = new PatientLog(shared?.log ?? (await openLog(config.log, 'trainer')), patience);
  const control = new ControlTail(log);
  const warnings = new WarningLog({ control, runId, show: supervised.warn });
  await control.catchUp();
  const recipe = recipeWith(control.run(runId).started.recipe, config.engine);
  const environment = readComputeEnvironment();
  const gpus = (recipe.optimizer.dataParallel ?? 1) > 1 ? environment.gpus : [];
  const backend = await openBackend({
    ...matrixProducts(recipe),
    environment,
    visibleGpu: gpus[0],
    prefer: config.backend === null ? undefined : [config.backend],
  });
  const { tokenizer } = await openText(recipe);
  await saveTokenizer(config.tokenizerDirectory, tokenizer);
  const client = config.store && createStoreClient(config.store);
  const reader = client ? new TrajectoryReader(client) : new WholeLogEpisodes(log, signal);
  const checkpoints = checkpointsAt(config.checkpoints);
  const { vocabSize, hash: tokenizerHash } = tokenizer;
  const engineOptions = { recipe, checkpoints, vocabSize, tokenizerHash };
  const sources = client ? rewardSources({ log, client, reader, runId }, variables) : {};
  const rewards = await loadRewards(recipe, sources, client !== null);
  const shape = await recipeModelConfig(recipe, vocabSize);
  const teacher = await openEndpointTeacher(recipe, { tokenizer, shape, variables, onNotice, signal });
  const trainer = await Trainer.start({
    ...(shared ?? { offerFile: OfferFile.at(config.checkpoints, runId) }),
    ...{ runId, recipe, rewards, teacher, log, control, checkpoints, reader, signal, warnings },
    trainerId: randomUUID(),
    shape,
    openEngine: () => openSharedEngine(engineOptions, { backend: backend.name, gpus, onNotice }),
    hasStore: client !== null,
    visits: sources.visits,
  });
  supervised.send({ type: 'ready', detail: backend.reason + (await serveMetrics(config, control)) });
  try {
    await trainer.run();
  } finally {
    await trainer.close();
    await teacher?.close();
  }
  await warnings.flush();
  control.close();
  await client?.close();
  if (!shared) await log.close();
  return control.run(runId);
}

/**
 * The recipe of a run, with the engine that the trainer was told in place of its own.
 *
 * @throws ConfigError `RECIPE_INVALID`
 */
function recipeWith(started: Json, engine: string | null): Recipe {
  if (engine === null) return parseRecipe(started);
  return parseRecipe({ ...(started as Record<string, Json>), engine: JSON.parse(engine) as Json });
}

async function openText({ context, environment, policy }: Recipe): Promise<PolicyText> {
  const { words } = await readEnvironment(environment);
  return openPolicyText({ tokenizer: context.tokenizer, words, directory: policy?.model });
}

/** @throws TrainerError `STORE_NEEDED` */
async function loadRewards(
  { reward }: Recipe,
  sources: RewardScorerOptions,
  hasStore: boolean,
): Promise<RewardScorer> {
  const rewards = await RewardScorer.load(reward, sources);
  if (!hasStore && rewards.asksJudge) throw needsStore('verdicts of judges');
  if (!hasStore && rewards.countsVisits) throw needsStore('counts of visits');
  if (!hasStore && rewards.readsAssigned) throw needsStore('assigned rewards');
  return rewards;
}

/** Serves the metrics of this process until it ends, where the configuration says so; returns what tells the address. */
async function serveMetrics({ runId, metricsAddress }: RunRoleConfig, control: ControlTail): Promise<string> {
  if (metricsAddress === null) return '';
  const { MetricsServer, RunRegistry } = await import('@retrace/process/prometheus');
  const { registry } = new RunRegistry({
    runId,
    role: 'trainer',
    sources: ['trainer'],
    run: () => control.state.run(runId) ?? null,
  });
  const { url } = await MetricsServer.start(metricsAddress, registry);
  return `; metrics at ${url}`;
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
    readonly reader: Pick<TrajectoryReader, 'readAssignedRewards'>;
    readonly runId: string;
  },
  apiKeys: JudgeClientOptions['apiKeys'],
): RewardScorerOptions {
  return {
    verdicts: new VerdictStore({ log, reader, runId }),
    judge: { archive: new VerdictArchive(client), apiKeys },
    visits: new StateVisits({ client, runId, untilStored: () => untilVisible(log, client) }),
    assigned: new AssignedRewards({ client, untilStored: () => untilVisible(log, client) }),
  };
}
