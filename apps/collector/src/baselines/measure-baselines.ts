import type { Recipe } from '@retrace/config';
import { openEnvironment } from '@retrace/environment-sources';
import { type EnvironmentSpec, type ScriptedAgent } from '@retrace/environments';
import { deriveSeed, Pcg32 } from '@retrace/random';
import type { Baseline, Split } from '@retrace/trajectory';
import { GuardedEnvironment, sampleTask, type AnswerLimits } from '../environment/guarded-environment.js';

export interface BaselineOptions {
  readonly environment: Recipe['environment'];
  readonly tasks?: Recipe['tasks'];
  /** Seed of the run, so that the tasks equal those of the run's validation episodes. */
  readonly seed: number;
  readonly numEpisodes: number;
  readonly limits: AnswerLimits;
}

const SPLIT: Split = 'validation';
/** Episodes that are played at the same time, for environments that answer by promise. */
const NUM_CONCURRENT = 32;

/** Measures the success rates of the environment's scripted agents on the same held-out tasks, one agent after the other. */
export async function measureBaselines(
  options: BaselineOptions,
  onMeasured: (baseline: Baseline) => void,
): Promise<void> {
  const { spec, close } = await openEnvironment(options.environment, options.tasks);
  for (const agent of spec.agents) {
    const success = await successRate(spec, agent, options);
    onMeasured({ name: agent.name, success, numEpisodes: options.numEpisodes, split: SPLIT });
  }
  await close();
}

async function successRate(
  spec: EnvironmentSpec,
  agent: ScriptedAgent,
  { seed, numEpisodes, limits }: BaselineOptions,
): Promise<number> {
  let numSuccesses = 0;
  let next = 0;
  const playSome = async (): Promise<void> => {
    const environment = new GuardedEnvironment(spec, limits);
    while (next < numEpisodes) {
      if (await succeeds(spec, agent, { environment, index: next++, seed })) numSuccesses += 1;
    }
    environment.close();
  };
  await Promise.all(Array.from({ length: NUM_CONCURRENT }, playSome));
  return numSuccesses / numEpisodes;
}

/** Plays one episode. One in which the environment or the agent fails is no success. */
async function succeeds(
  spec: EnvironmentSpec,
  agent: ScriptedAgent,
  { environment, index, seed }: { environment: GuardedEnvironment; index: number; seed: number },
): Promise<boolean> {
  const sampled = sampleTask(spec, { split: SPLIT, index, seed });
  if (!sampled.ok) return false;
  const generator = new Pcg32(deriveSeed('baseline', agent.name, sampled.value.seed));
  const random = () => generator.nextFloat();
  const start = await environment.reset(sampled.value);
  if (!start.ok) return false;
  let observation = start.value;
  for (let step = 0; step < spec.maxSteps; step++) {
    let action: string;
    try {
      action = agent.act(environment.instance, observation, random);
    } catch {
      environment.close();
      return false;
    }
    const answer = await environment.step(action);
    if (!answer.ok) return false;
    observation = answer.value.observation;
    if (answer.value.terminated || answer.value.truncated) return answer.value.success === true;
  }
  return false;
}
