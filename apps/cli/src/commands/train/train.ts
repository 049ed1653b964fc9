import { commandEnvironment } from '../../data-directory/environment.js';
import { namesKafka } from '@retrace/process';
import { resolveEngine, type Recipe } from '@retrace/config';
import { CliError } from '../../cli-error.js';
import { announceRun } from '../../run/announce-run.js';
import type { MetricsOptions } from '../../run/metrics-export.js';
import { requireLearning } from '../../run/require-learning.js';
import { readTrainingRecipe, type TrainingOptions } from '../../run/training-recipe.js';
import { serve } from '../../server/serve.js';
import { createLogStream } from '../../supervisor/log-stream.js';
import { offlineRecipe } from './offline-recipe.js';
import { printSummary } from './print-summary.js';

interface TrainOptions extends TrainingOptions {
  readonly dryRun?: boolean;
}

/**
 * Trains to the end of the recipe and prints the final figures: all roles on a data directory, or only the trainer where the
 * environment names Kafka.
 *
 * @throws CliError `RUN_FAILED`; `NOTHING_LEARNED` when no update learned anything
 */
export async function train({ dryRun, ...options }: TrainOptions): Promise<void> {
  if (dryRun === true) {
    const { printPlan } = await import('./print-plan.js');
    await printPlan(options);
    return;
  }
  if (namesKafka(commandEnvironment)) {
    await trainOnServices(await readTrainingRecipe(options), options);
    return;
  }
  const recipe = offlineRecipe(options) ?? (await readTrainingRecipe(options));
  const isJson = options.json === true;
  await serve({
    dataDirectory: options.dataDir,
    log: createLogStream({ json: isJson, out: process.stderr }),
    apiPort: null,
    withoutStore: options.store === false,
    joins: true,
    acceptsOtherLog: options.acceptOtherLog === true,
    work: async (server, stopped) => {
      const summary = await server.train(recipe, {
        backend: options.backend,
        numCollectors: options.collectors,
        niceness: options.nice,
        metrics: options,
      });
      if (stopped.aborted) return;
      printSummary(summary, isJson);
      if (summary.reason !== 'finished') {
        throw new CliError('RUN_FAILED', `run ${summary.runId} ${summary.reason}: ${summary.detail}`);
      }
      requireLearning({ runId: summary.runId, updates: summary });
    },
  });
}

/** Runs the trainer of the recipe's run on shared services; its collectors and its validator are other processes. */
async function trainOnServices(
  recipe: Recipe,
  options: Pick<TrainingOptions, 'dataDir' | 'backend' | 'json' | 'store'> & MetricsOptions,
): Promise<void> {
  const { dataDir, backend, json, metricsPort } = options;
  const [{ requireServices, runRoleInProcess }, { beginRunOn, recordBaselinesOn, watchRunOn }] =
    await Promise.all([
      import('../../run/run-role-in-process.js'),
      import('../../run/begin-or-choose-run.js'),
    ]);
  const services = requireServices('train', dataDir);
  const begun = await beginRunOn(services, recipe);
  const { runId } = begun;
  const engine = resolveEngine(begun.recipe);
  await runRoleInProcess('trainer', services, {
    variables: {
      RETRACE_RUN_ID: runId,
      // Empty hides the one that the environment names.
      RETRACE_STORE_URL: options.store === false ? '' : undefined,
      RETRACE_BACKEND: backend,
      RETRACE_ENGINE: JSON.stringify(engine),
      RETRACE_METRICS_PORT: metricsPort === undefined ? undefined : `${metricsPort}`,
    },
    json: json === true,
    announcement: announceRun(begun),
    beside: (signal) =>
      Promise.all([
        watchRunOn(services, begun, { metrics: options, signal }),
        recordBaselinesOn(services, { runId, recipe, signal }),
      ]),
  });
}
