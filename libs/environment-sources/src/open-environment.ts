import type { EnvironmentRecipe, EnvironmentServerRecipe, TaskRecipe } from '@retrace/config';
import { getEnvironment, type EnvironmentSpec } from '@retrace/environments';
import type { Json } from '@retrace/trajectory';
import { AgentGymAdapter } from './agentgym/agentgym-adapter.js';
import { findFamily } from './agentgym/families.js';
import { randomCrafter } from './agentgym/random-crafter.js';
import { OpenEnvAdapter } from './openenv/openenv-adapter.js';
import { loadEnvironmentModule } from './module/load-environment-module.js';
import { ProtocolAdapter } from './protocol/protocol-adapter.js';
import type { ServerAdapter } from './remote/adapter.js';
import { remoteSpec } from './remote/remote-spec.js';
import { openServers } from './remote/open-servers.js';
import { withTasks } from './task-files/with-tasks.js';

/** An environment that can be played. `close` stops what was started for it. */
export interface OpenEnvironment {
  readonly spec: EnvironmentSpec;
  close(): Promise<void>;
}

type Fields = Readonly<Record<string, unknown>>;

const DEFAULT_MAX_STEPS = 50;
const DEFAULT_MAX_EPISODES = 64;

const NOTHING_TO_CLOSE = () => Promise.resolve();

/**
 * Opens a recipe's environment to be played: loads its module, or connects to its servers, which it starts where the recipe says how.
 *
 * @param tasks files whose rows are its tasks; without them it draws its own
 * @throws EnvironmentError `UNKNOWN_ENVIRONMENT`; EnvironmentSourceError
 */
export async function openEnvironment(
  environment: string | EnvironmentRecipe,
  tasks?: TaskRecipe | null,
): Promise<OpenEnvironment> {
  const open = await openOwnEnvironment(environment);
  if (!tasks) return open;
  try {
    const tasked = await withTasks(open.spec, tasks);
    const close = () => {
      tasked.close();
      return open.close();
    };
    return { spec: tasked.spec, close };
  } catch (error) {
    await open.close();
    throw error;
  }
}

async function openOwnEnvironment(environment: string | EnvironmentRecipe): Promise<OpenEnvironment> {
  if (typeof environment === 'string') return { spec: getEnvironment(environment), close: NOTHING_TO_CLOSE };
  const { server, module = '', name = '', options = {} } = environment;
  if (server) return openServerEnvironment(name, withLimits(server), options);
  return { spec: await loadEnvironmentModule(module, options), close: NOTHING_TO_CLOSE };
}

async function openServerEnvironment(
  name: string,
  server: EnvironmentServerRecipe,
  options: Fields,
): Promise<OpenEnvironment> {
  const adapter = makeAdapter(server, options);
  const pool = await openServers(server, adapter);
  const close = async () => {
    await adapter.close();
    await pool.close();
  };
  try {
    const { url } = await pool.take().then((lease) => {
      lease.release(false);
      return lease;
    });
    const description = await adapter.describe(url);
    const maxSteps = Math.min(
      description.maxSteps ?? Infinity,
      server.maxSteps ?? (description.maxSteps === null ? DEFAULT_MAX_STEPS : Infinity),
    );
    const numTasks = server.numTasks ?? description.numTasks;
    const spec = remoteSpec({
      name,
      pool,
      adapter,
      maxSteps,
      anchorsByText: server.anchor === 'observation',
      description: { ...description, numTasks },
      agents: server.family === 'textcraft' ? [randomCrafter] : [],
    });
    return { spec, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws EnvironmentSourceError `FAMILY_UNKNOWN` */
function makeAdapter({ protocol, family = '' }: EnvironmentServerRecipe, options: Fields): ServerAdapter {
  switch (protocol) {
    case 'retrace':
      return new ProtocolAdapter(options as Json);
    case 'openenv':
      return new OpenEnvAdapter(options);
    case 'agentgym':
      return new AgentGymAdapter(findFamily(family), options);
  }
}

/** Limits of the protocol, where the recipe has none: an OpenEnv server takes one session unless its environment says otherwise. */
function withLimits(server: EnvironmentServerRecipe): EnvironmentServerRecipe {
  const { protocol, family = '', maxEpisodes } = server;
  if (protocol === 'openenv') return { ...server, maxEpisodes: maxEpisodes ?? 1 };
  const most = protocol === 'agentgym' ? (findFamily(family).maxEpisodes ?? Infinity) : Infinity;
  return { ...server, maxEpisodes: Math.min(maxEpisodes ?? DEFAULT_MAX_EPISODES, most) };
}
