import type {
  Environment,
  EnvironmentSpec,
  Observation,
  ResetOptions,
  ScriptedAgent,
  StepResult,
} from '../environment.js';

/** An episode as it was played: the observation before each action, and what the action led to. */
export interface Playthrough {
  readonly first: Observation;
  readonly actions: readonly string[];
  readonly results: readonly StepResult[];
}

/** Plays one episode to its end; stops with an error after `maxSteps`, so a broken environment cannot hang a test. */
export async function playEpisode(
  environment: Environment,
  options: ResetOptions & {
    readonly maxSteps: number;
    readonly agent: ScriptedAgent;
    readonly random: () => number;
  },
): Promise<Playthrough> {
  const first = await environment.reset(options);
  const actions: string[] = [];
  const results: StepResult[] = [];
  for (let observation = first; ;) {
    if (actions.length === options.maxSteps) throw new Error(`no end after ${options.maxSteps} steps`);
    const action = options.agent.act(environment, observation, options.random);
    const result = await environment.step(action);
    actions.push(action);
    results.push(result);
    if (result.terminated || result.truncated) return { first, actions, results };
    observation = result.observation;
  }
}

/** The named agent of a spec. */
export function requireAgent(spec: EnvironmentSpec, name: string): ScriptedAgent {
  const agent = spec.agents.find((candidate) => candidate.name === name);
  if (agent === undefined) throw new Error(`${spec.name} has no agent '${name}'`);
  return agent;
}
