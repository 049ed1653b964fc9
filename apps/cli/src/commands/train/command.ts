import { Command } from '@commander-js/extra-typings';
import type { Recipe } from '@retrace/config';
import type { BackendName } from '../../server/role-definitions.js';
import {
  backendOption,
  collect,
  collectorsOption,
  dataDirOption,
  jsonOption,
  verboseOption,
  wholeNumber,
} from '../../options.js';
import { assertRewardModulesLoad } from '../../run/load-reward-modules.js';

export const trainCommand = () =>
  new Command('train')
    .description(
      'run a recipe to its end without API or dashboard; goes on with an unfinished run of the same recipe',
    )
    .requiredOption('--recipe <name-or-file>', 'built-in recipe (see "retrace recipes") or a .json file')
    .option('--updates <number>', 'policy updates instead of the recipe’s number', wholeNumber(1))
    .option('--seed <number>', 'seed instead of the recipe’s', wholeNumber(0))
    .option('--set <key=value>', 'another value for a recipe field; may be repeated', collect)
    .addOption(collectorsOption())
    .addOption(backendOption())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [
        { resolveRecipe },
        { namesKafka },
        { CliError },
        { createLogStream },
        { serve },
        { printSummary },
      ] = await Promise.all([
        import('@retrace/config'),
        import('@retrace/process'),
        import('../../cli-error.js'),
        import('../../supervisor/log-stream.js'),
        import('../../server/serve.js'),
        import('./print-summary.js'),
      ]);
      const recipe = resolveRecipe(options.recipe, {
        seed: options.seed,
        numUpdates: options.updates,
        assignments: options.set,
      });
      await assertRewardModulesLoad(recipe);
      if (namesKafka(process.env)) return trainAlone(recipe, options);
      const isJson = options.json === true;
      await serve({
        dataDirectory: options.dataDir,
        log: createLogStream({ json: isJson, out: process.stderr }),
        apiPort: null,
        work: async (server, stopped) => {
          const summary = await server.train(recipe, {
            backend: options.backend,
            numCollectors: options.collectors,
          });
          if (stopped.aborted) return;
          printSummary(summary, isJson);
          if (summary.reason !== 'finished') {
            throw new CliError('RUN_FAILED', `run ${summary.runId} ${summary.reason}: ${summary.detail}`);
          }
        },
      });
    });

/** The trainer of the recipe's run on shared services; its collector is another process. */
async function trainAlone(
  recipe: Recipe,
  {
    dataDir,
    backend,
    json,
  }: { readonly dataDir: string; readonly backend?: BackendName; readonly json?: true },
): Promise<void> {
  const [{ requireServices, runRoleAlone }, { beginRunOn }] = await Promise.all([
    import('../../services/run-role-alone.js'),
    import('../../run/begin-or-choose-run.js'),
  ]);
  const services = requireServices('train', dataDir);
  const { runId, isResumed } = await beginRunOn(services, recipe);
  await runRoleAlone('trainer', services, {
    variables: { RETRACE_RUN_ID: runId, RETRACE_BACKEND: backend },
    json: json === true,
    announcement: `${isResumed ? 'goes on with' : 'began'} ${recipe.name}, run ${runId}`,
  });
}
