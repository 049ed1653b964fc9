import {
  deriveSeed,
  getEnvironment,
  Pcg32,
  type EnvironmentSpec,
  type ScriptedAgent,
} from '@retrace/environments';
import type { Baseline, Split } from '@retrace/trajectory';

interface BaselineOptions {
  readonly environment: string;
  /** Seed of the run, so that the tasks equal those of the run's validation episodes. */
  readonly seed: number;
  readonly numEpisodes: number;
}

const SPLIT: Split = 'validation';

/** Measures the success rates of the environment's scripted agents on the same held-out tasks, best first. */
export async function measureBaselines(options: BaselineOptions): Promise<Baseline[]> {
  const spec = getEnvironment(options.environment);
  const baselines: Baseline[] = [];
  for (const agent of spec.agents) {
    baselines.push({
      name: agent.name,
      success: await successRate(spec, agent, options),
      numEpisodes: options.numEpisodes,
      split: SPLIT,
    });
  }
  return baselines.sort((a, b) => b.success - a.success);
}

async function successRate(
  spec: EnvironmentSpec,
  agent: ScriptedAgent,
  { seed, numEpisodes }: BaselineOptions,
): Promise<number> {
  const environment = spec.create();
  let numSuccesses = 0;
  for (let index = 0; index < numEpisodes; index++) {
    const sampled = spec.sampleTask({ split: SPLIT, index, seed });
    const generator = new Pcg32(deriveSeed('baseline', agent.name, sampled.seed));
    const random = () => generator.nextFloat();
    let observation = await environment.reset(sampled);
    for (let step = 0; step < spec.maxSteps; step++) {
      const result = await environment.step(agent.act(environment, observation, random));
      observation = result.observation;
      if (!result.terminated && !result.truncated) continue;
      if (result.success === true) numSuccesses += 1;
      break;
    }
  }
  await environment.close();
  return numSuccesses / numEpisodes;
}
