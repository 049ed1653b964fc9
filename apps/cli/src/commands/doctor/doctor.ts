import { readVariables } from '@retrace/process';
import { CliError } from '../../cli-error.js';
import { findServer } from '../../data-directory/hold-data-directory.js';
import type { CommonOptions } from '../../options.js';
import { LOOPBACK } from '../../roles/role-definitions.js';
import { commandEnvironment } from '../../data-directory/environment.js';
import { readServices } from '../../services/services.js';
import { checkBackend } from './backend-check.js';
import type { CheckResult } from './check.js';
import { checkDisk, checkImage, checkMemory, checkNode, checkPort } from './machine-checks.js';

interface DoctorOptions extends CommonOptions {
  readonly port: number;
  readonly recipe?: string;
  readonly set?: readonly string[];
  readonly engine?: 'torch';
  readonly enginePython: string;
}

/**
 * Runs all checks and prints their results.
 *
 * @throws CliError `CHECK_FAILED` naming the checks that failed
 */
export async function doctor(options: DoctorOptions): Promise<void> {
  const { dataDir, port, json, recipe, set, engine, enginePython } = options;
  const { RETRACE_IMAGE: isInImage } = readVariables(commandEnvironment, { reads: ['RETRACE_IMAGE'] });
  const recipeCheck = recipe === undefined ? null : await recipeChecks(recipe, set);
  const server = await findServer(dataDir);
  const results = [
    await checkNode(),
    ...(isInImage === undefined ? [] : [await checkImage()]),
    await checkMemory(),
    await checkDisk(dataDir),
    await checkPort(LOOPBACK, port, server?.apiUrl || null),
    await checkBackend(),
    ...(await checkData(dataDir)),
    ...(server?.apiUrl ? [await (await import('./server-checks.js')).checkServer(server.apiUrl)] : []),
    ...(recipeCheck === null ? [] : await recipeCheck(dataDir)),
    ...(engine === 'torch' ? await (await import('./engine-checks.js')).checkTorchEngine(enginePython) : []),
  ];
  if (json === true) {
    console.log(JSON.stringify(results, null, 2));
  } else {
    const width = Math.max(...results.map(({ check }) => check.length));
    for (const { check, verdict, detail } of results) {
      console.log(`${verdict.padEnd(4)}  ${check.padEnd(width)}  ${detail}`);
    }
  }
  const failed = results.filter(({ verdict }) => verdict === 'fail').map(({ check }) => check);
  if (failed.length > 0) {
    throw new CliError('CHECK_FAILED', `doctor: fix these first: ${failed.join(', ')}`);
  }
}

/** Checks the services that the environment names, without changing anything, or else the data directory. */
async function checkData(dataDir: string): Promise<CheckResult[]> {
  const services = readServices(dataDir);
  if (services === null) {
    const { checkDataDirectory } = await import('./data-checks.js');
    return [await checkDataDirectory(dataDir)];
  }
  const { checkLog, checkStore } = await import('./service-checks.js');
  return Promise.all([checkLog(services), checkStore(services)]);
}

/** Reads the recipe at once, so that a bad one is refused before anything is checked, and returns its checks. */
async function recipeChecks(
  nameOrFile: string,
  assignments?: readonly string[],
): Promise<(dataDir: string) => Promise<CheckResult[]>> {
  const [{ readTrainingRecipe }, { checkRecipeMemory }, { checkRecipeDisk }] = await Promise.all([
    import('../../run/training-recipe.js'),
    import('./recipe-memory.js'),
    import('./recipe-disk.js'),
  ]);
  const recipe = await readTrainingRecipe({ recipe: nameOrFile, set: assignments });
  return async (dataDir) => [await checkRecipeMemory(recipe), await checkRecipeDisk(recipe, dataDir)];
}
