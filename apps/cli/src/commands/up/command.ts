import { Command, Option } from '@commander-js/extra-typings';
import {
  backendOption,
  collectorsOption,
  collect,
  dataDirOption,
  jsonOption,
  recipeOption,
  verboseOption,
  wholeNumber,
} from '../../options.js';
import { assertRewardModulesLoad } from '../../run/load-reward-modules.js';

const defaultPort = 8787;

export const upCommand = () =>
  new Command('up')
    .description('start everything: store, API with dashboard, and a training run that goes on where it was')
    .addOption(recipeOption())
    .addOption(
      new Option('--port <number>', 'port of the API and dashboard, 0 = any')
        .default(defaultPort)
        .argParser(wholeNumber(0, 65_535)),
    )
    .option('--updates <number>', 'policy updates instead of the recipe’s number', wholeNumber(1))
    .option('--seed <number>', 'seed instead of the recipe’s', wholeNumber(0))
    .option('--set <key=value>', 'another value for a recipe field; may be repeated', collect)
    .addOption(collectorsOption())
    .addOption(backendOption())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      await refuseServices('up');
      const [{ resolveRecipe }, { assertPortFree }, { createLogStream }, { serve }, { loopback }] =
        await Promise.all([
          import('@retrace/config'),
          import('../../server/free-port.js'),
          import('../../supervisor/log-stream.js'),
          import('../../server/serve.js'),
          import('../../server/role-definitions.js'),
        ]);
      const recipe = resolveRecipe(options.recipe, {
        seed: options.seed,
        numUpdates: options.updates,
        assignments: options.set,
      });
      await assertRewardModulesLoad(recipe);
      await assertPortFree(loopback, options.port);
      const log = createLogStream({ json: options.json === true, out: process.stdout });
      await serve({
        dataDirectory: options.dataDir,
        log,
        apiPort: options.port,
        work: async (server, stopped) => {
          log.write({
            role: 'retrace',
            level: 'info',
            message: `dashboard at ${server.apiUrl ?? ''}/live, API at ${server.apiUrl ?? ''}/api (data in ${options.dataDir})`,
          });
          const summary = await server.train(recipe, {
            backend: options.backend,
            numCollectors: options.collectors,
          });
          if (stopped.aborted) return;
          log.write({
            role: 'retrace',
            level: 'info',
            message: `the run ${summary.reason === 'finished' ? 'has finished' : `ended: ${summary.reason}`}; still serving, Ctrl-C stops`,
          });
          await untilAborted(stopped);
        },
      });
    });

/** `up` runs the embedded pair: to start it where another log is named would be a mistake of its user. */
async function refuseServices(command: string): Promise<void> {
  const [{ namesKafka }, { CliError }] = await Promise.all([
    import('@retrace/process'),
    import('../../cli-error.js'),
  ]);
  if (!namesKafka(process.env)) return;
  throw new CliError(
    'SERVICES_IN_USE',
    `${command}: RETRACE_KAFKA_BROKERS names a log on Kafka, and "${command}" works on a data directory alone; unset it, or start "retrace sink", "train", "collect --run" and "api"`,
  );
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  // Signal handlers keep no process alive; the supervised roles may all have finished but the store and the API.
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
}
