import { resolveRecipe, type EngineRecipe, type Recipe, type RecipeOverrides } from '@retrace/config';
import { readVariables, type BackendChoice } from '@retrace/process';
import { assignmentOfPolicy, checkRecipe, onlySource } from '@retrace/runs/begin';
import { CliError } from '../cli-error.js';
import { commandEnvironment } from '../data-directory/environment.js';
import type { CommonOptions } from '../options.js';
import type { MetricsOptions } from './metrics-export.js';
import { readSource, type SourceOptions } from './source-options.js';

/** Options of the commands that train a recipe. */
export interface TrainingOptions extends CommonOptions, SourceOptions, MetricsOptions {
  /** Default: for stored data, that of the run that most of it comes from. */
  readonly recipe?: string;
  readonly updates?: number;
  readonly seed?: number;
  readonly set?: readonly string[];
  readonly algorithm?: string;
  readonly initFrom?: string;
  readonly overrides?: string;
  readonly collectors: number;
  /** Steps of priority that trainer and collectors are below the servers. */
  readonly nice: number;
  readonly backend?: BackendChoice;
  readonly acceptOtherLog?: true;
  /** False: without a store. */
  readonly store?: boolean;
  readonly engine?: EngineRecipe['kind'];
  readonly nproc?: number;
  readonly engineBackend?: EngineRecipe['backend'];
  readonly enginePython?: string;
  readonly engineUrl?: string;
  readonly engineTokenFile?: string;
}

/** Options that say what computes the gradients. */
export type EngineOption =
  | 'engine'
  | 'nproc'
  | 'engineBackend'
  | 'enginePython'
  | 'engineUrl'
  | 'engineTokenFile';

/** Options that change a recipe. */
type OverrideOption = 'updates' | 'seed' | 'set' | 'algorithm' | 'initFrom' | 'overrides' | EngineOption;

/**
 * Reads the recipe that the options name, with their overrides. Loads its modules before anything starts, so that a fault
 * in one is reported at once instead of by a role that keeps failing. Reads its task files for the same reason, and for the number of updates.
 *
 * @throws ConfigError; RewardError and EnvironmentSourceError `MODULE_INVALID`; RewardError `INVALID_ARGUMENT` for options that a file's reward doesn't take
 */
export async function readTrainingRecipe(
  options: Pick<TrainingOptions, 'recipe' | OverrideOption> & SourceOptions,
): Promise<Recipe> {
  return checkRecipe(resolveTrainingRecipe(options));
}

/**
 * Resolves the recipe that the options name, with their overrides; loads nothing that it names.
 *
 * @throws ConfigError; CliError `OPTION_INVALID`
 */
export function resolveTrainingRecipe(
  options: Pick<TrainingOptions, 'recipe' | OverrideOption> & SourceOptions,
): Recipe {
  if (options.recipe === undefined)
    throw new CliError('OPTION_INVALID', '"--recipe" is required, or "--from …"');
  const source = readSource(options);
  const ofSource = source === null ? [] : [onlySource(source)];
  const warn = (message: string) => console.error(`warning: ${message}`);
  return resolveRecipe(options.recipe, { ...listOverrides(options, ofSource), warn });
}

/** @param own assignments that those of the user overrule */
export function listOverrides(
  {
    seed,
    updates: numUpdates,
    algorithm,
    overrides: overridesFile,
    initFrom,
    set = [],
    ...others
  }: Pick<TrainingOptions, OverrideOption>,
  own: readonly string[],
): RecipeOverrides {
  const start = initFrom === undefined ? [] : [initAssignment(initFrom)];
  const assignments = [...environmentAssignments(), ...own, ...start, ...engineAssignments(others), ...set];
  return { seed, numUpdates, algorithm, overridesFile, assignments };
}

/** The assignments that the options of the engine stand for; without `--engine` those of a worker choose torch. */
export function engineAssignments({
  engine,
  nproc,
  engineBackend,
  enginePython,
  engineUrl,
  engineTokenFile,
}: Pick<TrainingOptions, EngineOption>): readonly string[] {
  if (engine === 'tensorflow') return ['engine={"kind":"tensorflow"}'];
  const fields = {
    processes: nproc,
    backend: engineBackend,
    python: enginePython,
    url: engineUrl,
    tokenFile: engineTokenFile,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (engine === undefined && given.length === 0) return [];
  // An address replaces how the recipe reaches a worker, or starts one, and nothing that says how it computes. A Tinker server that has moved keeps its base model.
  const ofAddress =
    engineUrl === undefined || engine === 'tinker' ? [] : ['processes', 'python', 'tokenFile', 'baseModel'];
  const ofBackend = engineBackend === 'native' ? ['options'] : [];
  return [
    ...[...ofAddress, ...ofBackend].map((field) => `engine.${field}=null`),
    `engine.kind=${engine ?? 'torch'}`,
    ...given.map(([field, value]) => `engine.${field}=${JSON.stringify(value)}`),
  ];
}

/**
 * The assignment that makes a recipe start from a policy, as `--init-from` names it.
 *
 * @throws CliError `OPTION_INVALID`
 */
export function initAssignment(initFrom: string): string {
  const ofRun = assignmentOfPolicy(initFrom);
  if (ofRun !== null) return ofRun;
  if (initFrom.includes('/')) return `policy.model=${JSON.stringify(initFrom)}`;
  throw new CliError(
    'OPTION_INVALID',
    `--init-from: got "${initFrom}", must be "run:<run>", "run:<run>@<version>", "run:<run>@best", or the path of a model directory, with a slash`,
  );
}

/** Assignments of the variable `RETRACE_SET`, one a line, which `--set` overrules. */
export function environmentAssignments(): readonly string[] {
  const { RETRACE_SET = '' } = readVariables(commandEnvironment, { reads: ['RETRACE_SET'] });
  return RETRACE_SET.split('\n').filter((line) => line.trim() !== '');
}
