/**
 * Plays the scripted agents of every built-in environment on tasks of the test split and prints their success, mean return and mean number
 * of steps. Tasks and luck are drawn by seeds, so every machine gets the same figures.
 *
 *   npm run bench -- environments [-- --only sokoban [--only …] --episodes 2000]
 */
import { parseArgs } from 'node:util';
import { listEnvironments } from '@retrace/environments';
import { deriveSeed, Pcg32 } from '@retrace/random';
import { FigureTable } from './figure-table.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, episodes: { type: 'string', default: '2000' } },
});
const numEpisodes = Number(values.episodes);

/** Plays one episode to its end. */
async function play(spec, agent, index) {
  const sampled = spec.sampleTask({ split: 'test', index, seed: 1 });
  const generator = new Pcg32(deriveSeed('bench', agent.name, index));
  const random = () => generator.nextFloat();
  const environment = spec.create();
  let observation = await environment.reset(sampled);
  let total = 0;
  for (let numSteps = 1; ; numSteps++) {
    const result = await environment.step(agent.act(environment, observation, random));
    total += result.reward ?? 0;
    observation = result.observation;
    if (result.terminated || result.truncated) return { numSteps, total, success: Number(result.success) };
  }
}

const table = new FigureTable('Scripted agents in the built-in environments');
for (const spec of listEnvironments()) {
  if (values.only?.includes(spec.name) === false) continue;
  for (const agent of spec.agents) {
    const sums = { numSteps: 0, total: 0, success: 0 };
    for (let index = 0; index < numEpisodes; index++) {
      const episode = await play(spec, agent, index);
      for (const field of Object.keys(sums)) sums[field] += episode[field];
    }
    const name = `${spec.name}, ${agent.name}`;
    table.add(`${name}: success`, sums.success / numEpisodes, '');
    table.add(`${name}: mean return`, sums.total / numEpisodes, '');
    table.add(`${name}: mean length`, sums.numSteps / numEpisodes, 'steps');
  }
}
table.save(`${numEpisodes} tasks of the test split for each agent.`);
