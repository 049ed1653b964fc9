import { randomAgent, type EnvironmentSpec, type ScriptedAgent } from '@retrace/environments';
import type { ServerPool } from '../servers/server-pool.js';
import type { RemoteDescription, ServerAdapter } from './adapter.js';
import { RemoteEnvironment } from './remote-environment.js';
import { splitsTasks, taskFamily, taskSampler } from './remote-tasks.js';

interface RemoteSpecOptions {
  readonly name: string;
  readonly pool: ServerPool;
  readonly adapter: ServerAdapter;
  readonly description: RemoteDescription;
  readonly maxSteps: number;
  /** Whether the text of an observation is its anchor where the server gives none. */
  readonly anchorsByText?: boolean;
  /** More scripted agents, beside `random`. */
  readonly agents?: readonly ScriptedAgent[];
}

/** The environment that servers host, as the collector plays it. */
export function remoteSpec({
  name,
  pool,
  adapter,
  description,
  maxSteps,
  anchorsByText = false,
  agents = [],
}: RemoteSpecOptions): EnvironmentSpec {
  return {
    name,
    description: description.description,
    maxSteps,
    words: null,
    actionWords: null,
    offersAnchors: description.offersAnchors || anchorsByText,
    splitsAreDisjoint: splitsTasks(description.numTasks),
    maxInstances: pool.capacity,
    create: () => new RemoteEnvironment({ name, pool, adapter, maxSteps, anchorsByText }),
    sampleTask: taskSampler(name, description),
    familyOf: (task) => taskFamily(task, description),
    agents: [...agents.filter((agent) => agent.name !== 'random'), findRandom(description, agents)],
  };
}

function findRandom({ actions }: RemoteDescription, agents: readonly ScriptedAgent[]): ScriptedAgent {
  const own = agents.find((agent) => agent.name === 'random');
  if (own) return own;
  const listed = randomAgent(actions ?? []);
  return {
    name: 'random',
    act: (environment, observation, random) => {
      if ((observation.legalActions ?? actions ?? []).length > 0)
        return listed.act(environment, observation, random);
      throw new Error('the environment lists no actions that it could choose from');
    },
  };
}
