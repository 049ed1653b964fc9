import { getEnvironment } from '@retrace/environments';
import type { Recipe } from './recipe.js';

/** Checks that the environment is known, and that the agent to imitate is one of its scripted agents. */
export function environmentProblems({ environment, imitation }: Recipe): string[] {
  try {
    const { agents } = getEnvironment(environment);
    const names = agents.map(({ name }) => name);
    if (!imitation || names.includes(imitation.agent)) return [];
    return [
      `imitation.agent: got "${imitation.agent}", must be a scripted agent of ${environment}: ${names.join(', ')}`,
    ];
  } catch (error) {
    return [`environment: ${(error as Error).message}`];
  }
}
