import { Pcg32 } from '@retrace/random';
import type { EnvironmentSpec } from '../environment.js';
import { requireAgent, playEpisode, type Playthrough } from './play.js';

/** Success rate of a scripted agent on tasks of the test split. */
export async function measureSuccess(
  spec: EnvironmentSpec,
  agent: string,
  numEpisodes: number,
): Promise<number> {
  let numSuccesses = 0;
  for (let index = 0; index < numEpisodes; index++) {
    const { results } = await playTask(spec, agent, index);
    numSuccesses += Number(results[results.length - 1].success);
  }
  return numSuccesses / numEpisodes;
}

/** Everything that tasks, their episodes by random and by expert play, and their families say, as one text to hash. */
export async function playTranscript(spec: EnvironmentSpec, numEpisodes: number): Promise<string> {
  const lines: string[] = [];
  for (let index = 0; index < numEpisodes; index++) {
    const { task } = spec.sampleTask({ split: 'test', index, seed: 1 });
    lines.push(JSON.stringify([task, spec.familyOf?.(task) ?? null]));
    for (const agent of ['random', 'expert']) lines.push(JSON.stringify(await playTask(spec, agent, index)));
  }
  return lines.join('\n');
}

function playTask(spec: EnvironmentSpec, agent: string, index: number): Promise<Playthrough> {
  const random = new Pcg32(index);
  return playEpisode(spec.create(), {
    ...spec.sampleTask({ split: 'test', index, seed: 1 }),
    maxSteps: spec.maxSteps,
    agent: requireAgent(spec, agent),
    random: () => random.nextFloat(),
  });
}
