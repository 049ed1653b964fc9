import { createHash } from 'node:crypto';
import { Pcg32 } from '@retrace/random';
import { getEnvironment } from '../registry.js';
import { requireAgent, playEpisode } from './play.js';

/**
 * Hashes tasks and episodes of an environment, played by `random` and `expert` in turn. A test compares it with a committed value: tasks
 * that are stored by seed must stay the same on every machine and in every version.
 *
 * @returns SHA-256 in hexadecimal digits
 */
export async function hashEpisodes(name: string, numEpisodes: number): Promise<string> {
  const spec = getEnvironment(name);
  const hash = createHash('sha256');
  for (let index = 0; index < numEpisodes; index++) {
    const sampled = spec.sampleTask({ split: 'train', index, seed: 5 });
    const random = new Pcg32(index);
    const episode = await playEpisode(spec.create(), {
      ...sampled,
      maxSteps: spec.maxSteps,
      agent: requireAgent(spec, index % 2 === 0 ? 'random' : 'expert'),
      random: () => random.nextFloat(),
    });
    hash.update(JSON.stringify([sampled, episode]));
  }
  return hash.digest('hex');
}
