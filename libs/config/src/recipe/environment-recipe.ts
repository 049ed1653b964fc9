import { IsIn, IsOptional, Type, ValidateNested } from '@retrace/validation';
import { Advanced, IsLine, IsList, IsName, IsNullable, IsOptions, IsWholeNumberFrom } from './field-rules.js';
import { HasPlaceholders, NotWith, OnlyWhere } from './sibling-rules.js';

const PROTOCOLS = ['retrace', 'agentgym', 'openenv'] as const;
export type EnvironmentProtocol = (typeof PROTOCOLS)[number];

/** Servers that host an environment: running ones (`urls`), or ones that the collector starts and stops (`command`). */
export class EnvironmentServerRecipe {
  /** Protocol that the servers speak: Retrace's own, AgentGym's, or OpenEnv's. */
  @IsIn(PROTOCOLS) readonly protocol!: EnvironmentProtocol;
  /** Environment of AgentGym that the servers host, such as `textcraft`; only with the protocol `agentgym`. */
  @OnlyWhere('protocol', ['agentgym'])
  @IsOptional()
  @IsName()
  readonly family?: string;
  /** Addresses of running servers, such as `http://127.0.0.1:36001`; episodes are divided among them. */
  @IsOptional() @IsList(1, 256) @IsLine({ maxLength: 1000, each: true }) readonly urls?: readonly string[];
  /** Program and arguments that start a server; `{port}` is replaced by its port. */
  @HasPlaceholders(['{port}'])
  @IsOptional()
  @IsList(1, 100)
  @IsLine({ maxLength: 4096, each: true })
  readonly command?: readonly string[];
  /** Folder in which `command` runs; without it, the recipe file's. */
  @Advanced() @IsOptional() @IsLine({ maxLength: 4096 }) readonly directory?: string;
  /** Number of servers that each collector starts with `command`. @defaultValue 1 */
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 64, { unit: 'processes', why: 'they run on one machine' })
  readonly numServers?: number;
  /** Port of the first server, those of the others follow; without it, the ports are free ones. */
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 65_535, { why: 'it is a port' })
  readonly firstPort?: number;
  /** Longest time until a started server answers. @defaultValue 120000 */
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 86_400_000, { unit: 'milliseconds', why: 'the most is a day' })
  readonly startTimeoutMs?: number;
  /** Most episodes at a time on one server; 1 for most OpenEnv servers. @defaultValue 64 */
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 8192, { unit: 'episodes', why: 'a collector plays no more' })
  readonly maxEpisodes?: number;
  /** Number of episodes after which a started server is replaced by a fresh one; without it, never. */
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 1_000_000_000, { unit: 'episodes', why: 'a run has no more' })
  readonly recycleAfterEpisodes?: number;
  /** Identity of a state, which GiGPO compares: what the `environment` says, or where it says nothing the text of the `observation`, as in verl-agent; that text must then hold no counters and no history. @defaultValue "environment" */
  @IsOptional() @IsIn(['environment', 'observation']) readonly anchor?: 'environment' | 'observation';
  /** Most actions of an episode, after which it is truncated; where the server knows a limit, the smaller one counts. @defaultValue 50 */
  @IsOptional()
  @IsWholeNumberFrom(1, 100_000, { unit: 'actions', why: 'an episode is held in memory' })
  readonly maxSteps?: number;
  /** Number of tasks to play, by index from 0; without it, as many as the server or its family says. Where tasks are made from seeds, the index is the seed. */
  @IsOptional()
  @IsWholeNumberFrom(1, 100_000_000, { unit: 'tasks', why: 'their split is decided by index' })
  readonly numTasks?: number;
}

/** An environment of your own: either a file (`module`), or servers (`server`). */
export class EnvironmentRecipe {
  /** Name under which the episodes of a server are stored; a module has its own. */
  @NotWith('module', 'which has its own')
  @IsOptional()
  @IsName()
  readonly name?: string;
  /** Path of your own JavaScript or TypeScript file whose default export is an environment, or a function that makes one of `options`; relative to the recipe file. */
  @IsOptional() @IsLine({ maxLength: 4096 }) readonly module?: string;
  /** Servers that host the environment; null for a module. @defaultValue null */
  @IsNullable()
  @ValidateNested()
  @Type(() => EnvironmentServerRecipe)
  readonly server?: EnvironmentServerRecipe | null;
  /** Options of the module's function, or of each reset of a server. @defaultValue {} */
  @IsOptional() @IsOptions() readonly options?: Readonly<Record<string, unknown>>;
}
