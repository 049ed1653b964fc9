import { describe, expect, it } from 'vitest';
import { openEnvironment } from '../open-environment.js';
import { serveAgentGym } from '../testing/agentgym-server.js';

describe('environment.server.numTasks', () => {
  it.each([
    ['textcraft, which has 544 tasks', 'textcraft', 3],
    ['sqlgym, of whose tasks the first 9,428 are meant for training', 'sqlgym', 10_962],
    ['alfworld, whose number of tasks nobody tells', 'alfworld', 7],
    ['wordle, whose tasks are made from seeds', 'wordle', 5],
  ])('of the user decides, also for %s', async (_, family, numTasks) => {
    const server = await serveAgentGym(family);
    const given = { protocol: 'agentgym', family, urls: [server.url], numTasks } as const;
    const { spec, close } = await openEnvironment({ name: family, server: given });
    const tasks = Array.from({ length: 60 }, (_, index) =>
      spec.sampleTask({ split: 'train', index, seed: 1 }),
    );
    const indices = tasks.map(({ task }) => (task as { readonly index: number }).index);
    expect(Math.max(...indices)).toBeLessThan(numTasks);
    // Drawn evenly, 60 indices leave the upper quarter empty in one of 3e7 cases.
    expect(Math.max(...indices)).toBeGreaterThanOrEqual(Math.floor(numTasks * 0.75));
    const environment = spec.create();
    await environment.reset(tasks[0]);
    expect(server.resets.at(-1)).toBe(indices[0]);
    await environment.close();
    await close();
    await server.close();
  });
});
