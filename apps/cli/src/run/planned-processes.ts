import { availableParallelism } from 'node:os';
import {
  endpointUrls,
  resolveEngine,
  isColocated,
  isValidatorColocated,
  needsCollector,
  needsValidator,
  type EndpointRecipe,
  type EnvironmentServerRecipe,
  type Recipe,
} from '@retrace/config';
import { installation, type PROGRAMS } from '../installation.js';

/** Processes of one kind that a run needs. */
export interface PlannedProcess {
  readonly process: string;
  readonly count: number;
  /** Program and arguments; null for one that somebody else starts. */
  readonly command: readonly string[] | null;
  /** Where it must answer before the run begins; null for one that the run starts. */
  readonly url: string | null;
}

interface PlanOptions {
  readonly numCollectors: number;
  readonly hasStore: boolean;
  /** Of the machine that the run is for (default: this one's). */
  readonly numProcessors?: number;
}

/** Which processes play, train and measure a run; `hasValidator`: one that does nothing else. */
export function runProcesses(
  recipe: Recipe,
  numCollectors: number,
  numProcessors: number = availableParallelism(),
) {
  const count = needsCollector(recipe) ? numCollectors : 0;
  const validates = isValidatorColocated(recipe, count, numProcessors);
  return {
    isColocated: isColocated(recipe, count),
    isValidatorColocated: validates,
    numCollectors: count,
    hasValidator: needsValidator(recipe) && !validates,
  };
}

/** Lists every role and server that a run of a recipe would start, and every server that must answer before. Starts and asks nothing. */
export async function planProcesses(
  recipe: Recipe,
  { numCollectors, hasStore, numProcessors }: PlanOptions,
): Promise<readonly PlannedProcess[]> {
  const own = runProcesses(recipe, numCollectors, numProcessors);
  const players = own.numCollectors + Number(needsValidator(recipe));
  return [
    ...(hasStore ? [role('store', 'store'), role('sink', 'sink')] : []),
    ...(own.isColocated
      ? [role(`trainer+collector${own.isValidatorColocated ? ' (validates too)' : ''}`, 'colocated')]
      : [role('trainer', 'trainer'), role('collector', 'collector', own.numCollectors)]),
    role('validator', 'validator', Number(own.hasValidator)),
    ...(await engineProcesses(recipe)),
    ...environmentProcesses(recipe, players),
    ...(recipe.collection.endpoint ? samplingServers(recipe.collection.endpoint, own.numCollectors) : []),
    ...scoringServers(recipe),
  ].filter(({ count }) => count > 0);
}

function role(process: string, program: keyof typeof PROGRAMS, count = 1): PlannedProcess {
  return started(process, ['node', installation.program(program)], count);
}

function started(process: string, command: readonly string[], count = 1): PlannedProcess {
  return { process, count, command, url: null };
}

function awaited(process: string, url: string): PlannedProcess {
  return { process, count: 1, command: null, url };
}

async function engineProcesses(recipe: Recipe): Promise<readonly PlannedProcess[]> {
  const engine = resolveEngine(recipe);
  if (engine.kind === 'tensorflow') return [];
  if (engine.url !== undefined)
    return [awaited(engine.kind === 'torch' ? 'torch worker' : 'Tinker server', engine.url)];
  const { engineCommand } = await import('@retrace/trainer/torch');
  const arguments_ = ['--host', '127.0.0.1', '--port', '{port}', '--token-file', '{token}'];
  const { processes = 1 } = engine;
  const name = processes > 1 ? `torch worker (${processes} ranks)` : 'torch worker';
  return [started(name, [...engineCommand(engine), ...arguments_])];
}

function environmentProcesses({ environment }: Recipe, players: number): readonly PlannedProcess[] {
  const server = typeof environment === 'string' ? null : environment.server;
  if (!server || players === 0) return [];
  const { urls = [], command, numServers = 1 }: EnvironmentServerRecipe = server;
  if (command !== undefined) return [started('environment server', command, numServers * players)];
  return urls.map((url) => awaited('environment server', url));
}

/** The validator samples by itself. */
function samplingServers(endpoint: EndpointRecipe, numCollectors: number): readonly PlannedProcess[] {
  const { kind, command, numServers = 1 } = endpoint;
  if (numCollectors === 0) return [];
  const name = `${kind} server`;
  if (command !== undefined) return [started(name, command, numServers * numCollectors)];
  return endpointUrls(endpoint).map((url) => awaited(name, url));
}

function scoringServers({ distillation, reward }: Recipe): readonly PlannedProcess[] {
  const teacher = distillation?.teacher.endpoint;
  const judges = reward.components.map(
    ({ options }) => (options as { readonly url?: unknown } | undefined)?.url,
  );
  return [
    ...(teacher ? [awaited('teacher', teacher.url)] : []),
    ...judges.filter((url) => typeof url === 'string').map((url) => awaited('judge', url)),
  ];
}
