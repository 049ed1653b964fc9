import { Command, Option } from '@commander-js/extra-typings';
import type { BackendName } from '../../server/role-definitions.js';
import { backendOption, dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const collectCommand = () =>
  new Command('collect')
    .description(
      'collect episodes outside any training run, with a scripted agent or the latest policy; or be the collector of a run on Kafka',
    )
    .addOption(
      new Option(
        '--run <id>',
        'be the collector of this run, until it ends; latest = the newest unfinished one, waited for',
      ).conflicts(['environment', 'policy', 'episodes']),
    )
    .addOption(
      new Option(
        '--share <number/count>',
        'with --run: which of several collectors of the run this is, such as 1/3; each plays its part of every round',
      )
        .env('RETRACE_COLLECTOR_SHARE')
        .default(''),
    )
    .option('--environment <name>', 'environment to act in')
    .option(
      '--policy <name>',
      'random, expert or another agent of the environment; latest = newest trained policy',
    )
    .option('--episodes <number>', 'how many', wholeNumber(1))
    .option('--seed <number>', 'seed of tasks and sampling', wholeNumber(0, 2 ** 31 - 1), 0)
    .addOption(backendOption())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options, command) => {
      if (options.run !== undefined) return collectForRun(options.run, options);
      const { environment, policy, episodes: numEpisodes, seed, backend } = options;
      if (environment === undefined || policy === undefined || numEpisodes === undefined) {
        return command.error("error: required: '--environment', '--policy' and '--episodes', or '--run'");
      }
      const [{ withStore }, { collectIntoLog }, { formatFigure }] = await Promise.all([
        import('../../services/store-session.js'),
        import('./collect-episodes.js'),
        import('../../run/run-progress.js'),
      ]);
      const result = await withStore({ dataDir: options.dataDir, create: true }, (session) =>
        collectIntoLog(session, { environment, policy, numEpisodes, seed, backend }),
      );
      if (options.json) {
        console.log(JSON.stringify(result));
        return;
      }
      console.log(
        `collected ${String(result.numEpisodes)} episodes as run ${result.runId}: ` +
          `success ${formatFigure(result.success)}, mean return ${formatFigure(result.meanReturn)}`,
      );
    });

async function collectForRun(
  run: string,
  {
    dataDir,
    backend,
    share,
    json,
  }: {
    readonly dataDir: string;
    readonly backend?: BackendName;
    readonly share: string;
    readonly json?: true;
  },
): Promise<void> {
  const [{ requireServices, runRoleAlone }, { chooseRunOn }] = await Promise.all([
    import('../../services/run-role-alone.js'),
    import('../../run/begin-or-choose-run.js'),
  ]);
  const services = requireServices('collect --run', dataDir);
  const runId = await chooseRunOn(services, run);
  if (runId === null) return;
  await runRoleAlone('collector', services, {
    variables: { RETRACE_RUN_ID: runId, RETRACE_BACKEND: backend, RETRACE_COLLECTOR_SHARE: share },
    json: json === true,
    announcement: `collects for run ${runId}`,
  });
}
