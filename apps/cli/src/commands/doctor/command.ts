import { Command } from '@commander-js/extra-typings';
import type { CheckResult } from './check.js';
import { collect, dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const doctorCommand = () =>
  new Command('doctor')
    .description(
      'check this machine, and the data directory or the log and store that the environment names; exit code 1 where Retrace can’t work',
    )
    .option('--recipe <name-or-file>', 'also whether this recipe fits into memory')
    .option('--set <key=value>', 'another value for a recipe field; may be repeated', collect)
    .option('--port <number>', 'port that the API would get', wholeNumber(0, 65_535), 8787)
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async ({ dataDir, port, json, recipe, set }) => {
      const [machine, { checkBackend }, { findServer }, { loopback }, { CliError }] = await Promise.all([
        import('./machine-checks.js'),
        import('./backend-check.js'),
        import('../../data-directory/hold-data-directory.js'),
        import('../../server/role-definitions.js'),
        import('../../cli-error.js'),
      ]);
      const server = await findServer(dataDir);
      const results = [
        await machine.checkNode(),
        await machine.checkMemory(),
        await machine.checkDisk(dataDir),
        await machine.checkPort(loopback, port, server?.apiUrl || null),
        await checkBackend(),
        ...(await checkData(dataDir)),
        ...(server?.apiUrl ? [await (await import('./server-checks.js')).checkServer(server.apiUrl)] : []),
        ...(recipe === undefined ? [] : [await checkRecipe(recipe, set)]),
      ];
      if (json) {
        console.log(JSON.stringify(results, null, 2));
      } else {
        const width = Math.max(...results.map(({ check }) => check.length));
        for (const { check, verdict, detail } of results) {
          console.log(`${verdict.padEnd(4)}  ${check.padEnd(width)}  ${detail}`);
        }
      }
      const failed = results.filter(({ verdict }) => verdict === 'fail').map(({ check }) => check);
      if (failed.length > 0)
        throw new CliError('CHECK_FAILED', `doctor: ${failed.join(', ')} must be put right first`);
    });

/** What the environment names in place of a data directory is looked at, not opened. */
async function checkData(dataDir: string): Promise<CheckResult[]> {
  const { readServices } = await import('../../services/services.js');
  const services = readServices(process.env, dataDir);
  if (services === null) {
    const { checkDataDirectory } = await import('./data-checks.js');
    return [await checkDataDirectory(dataDir)];
  }
  const { checkLog, checkStore } = await import('./service-checks.js');
  return Promise.all([checkLog(services), checkStore(services)]);
}

async function checkRecipe(nameOrFile: string, assignments?: readonly string[]): Promise<CheckResult> {
  const [{ resolveRecipe }, { checkRecipeMemory }] = await Promise.all([
    import('@retrace/config'),
    import('./recipe-memory.js'),
  ]);
  return checkRecipeMemory(resolveRecipe(nameOrFile, { assignments }));
}
