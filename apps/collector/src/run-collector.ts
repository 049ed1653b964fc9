import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { matrixProducts, parseRecipe, requireFit, type EnvironmentFacts, type Recipe } from '@retrace/config';
import type { CollectorConfig, Supervised } from '@retrace/process';
import { openEnvironment } from '@retrace/environment-sources';
import { CheckpointFiles, openPolicyText, type PolicyText } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { ControlTail, holdRole, openLog, PatientLog, WarningLog } from '@retrace/log';
import { PolicyEndpoint } from './actors/policy-endpoint.js';
import { Collector } from './collector.js';
import { openLoop } from './loop/open-loop.js';
import { TrajectoryWriter } from './writer/trajectory-writer.js';

/** How long the end of the process waits for an unavailable log. */
const RELEASE_MS = 5_000;

/**
 * Collects for one run until the run ends, or until the process is asked to stop.
 *
 * @param variables hold the API key of the server that samples, where the recipe names one
 */
export async function runCollector(
  config: CollectorConfig,
  supervised: Supervised,
  variables: NodeJS.ProcessEnv,
): Promise<void> {
  const { share, runId } = config;
  const log = await openLog(config.log, 'collector');
  const role = await holdRole(config.log, `collector-${runId}`, { share });
  const signal = AbortSignal.any([supervised.signal, role.lost]);
  const onNotice = (message: string) => void warnings.raise({ source: 'collector', message });
  const patientLog = new PatientLog(log, { signal, onNotice });
  const control = new ControlTail(patientLog);
  const warnings = new WarningLog({ control, runId: runId, show: supervised.warn });
  await control.catchUp();
  const recipe = parseRecipe(control.run(runId).started.recipe);
  const backend = await openBackend({
    ...matrixProducts(recipe),
    prefer: config.backend === null ? undefined : [config.backend],
  });
  const environment = await openEnvironment(recipe.environment, recipe.tasks);
  const text = await openText(recipe, environment.spec);
  const weightsDirectory = `${config.checkpointDirectory}-served`;
  const endpoint = await PolicyEndpoint.open({ runId, recipe, text, weightsDirectory, variables, signal });
  const writer = await TrajectoryWriter.open(log, { signal, onNotice, spool: spoolOf(config) });
  supervised.send({ type: 'ready', detail: backend.reason });
  const collector = new Collector({
    runId,
    recipe,
    environment: environment.spec,
    share,
    log: patientLog,
    control,
    warnings,
    writer,
    checkpoints: new CheckpointFiles(config.checkpointDirectory),
    text,
    loops: await openLoop(recipe),
    engine: `retrace ${backend.name}`,
    endpoint,
    signal,
  });
  let numLeftBytes: number;
  try {
    await collector.run().finally(() => Promise.all([environment.close(), endpoint?.close()]));
  } finally {
    numLeftBytes = await writer.close();
    await Promise.race([warnings.flush(), sleep(RELEASE_MS)]);
  }
  if (role.lost.aborted) throw new Error(`another collector has this share of run ${runId} now`);
  if (numLeftBytes > 0) onNotice(`${numLeftBytes} bytes stay in the spool for the next start`);
  await Promise.race([warnings.flush(), sleep(RELEASE_MS)]);
  control.close();
  // With the log unavailable neither would end for minutes; the log frees a role by itself once its holder is gone.
  for (const ending of [() => role.release(), () => patientLog.close()]) {
    await Promise.race([ending(), sleep(RELEASE_MS)]);
  }
}

/** @throws ConfigError `RECIPE_INVALID` where the environment does not fit the recipe */
function openText(recipe: Recipe, environment: EnvironmentFacts): Promise<PolicyText> {
  requireFit(recipe, environment);
  return openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: environment.words,
    directory: recipe.policy?.model,
    useChatTemplate: recipe.policy?.chatTemplate,
  });
}

/** The spool, in a directory for each collector of a run, so that those on one machine do not share it. */
function spoolOf({ spool, runId, share: { index } }: CollectorConfig) {
  if (!spool) return undefined;
  return { ...spool, directory: join(spool.directory, index === 0 ? runId : `${runId}-share-${index + 1}`) };
}
