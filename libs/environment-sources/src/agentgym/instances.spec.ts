import { afterEach, describe, expect, it } from 'vitest';
import { openEnvironment, type OpenEnvironment } from '../open-environment.js';
import { serveAgentGym, SERVED_FAMILIES, type AgentGymServer } from '../testing/agentgym-server.js';
import { findFamily } from './families.js';

const NUM_EPISODES = 200;
const AT_A_TIME = 4;

describe('instances on a server of AgentGym', () => {
  let server: AgentGymServer;
  let open: OpenEnvironment;
  afterEach(async () => {
    await open.close();
    await server.close();
  });

  const start = async (family: string) => {
    server = await serveAgentGym(family);
    const given = { protocol: 'agentgym', family, urls: [server.url], numTasks: 20 } as const;
    open = await openEnvironment({ name: family, server: given });
  };
  const taskOf = (index: number) => ({ task: { index: index % 20 }, seed: index });
  /** Plays as a collector does that makes an environment for a round and closes it afterwards. */
  const playOnce = async (index: number) => {
    const environment = open.spec.create();
    const first = await environment.reset(taskOf(index));
    expect((await environment.step('Action: look')).terminated).toBe(true);
    await environment.close();
    return first.text;
  };
  const playMany = async (numEpisodes: number) => {
    for (let from = 0; from < numEpisodes; from += AT_A_TIME)
      await Promise.all(Array.from({ length: AT_A_TIME }, (_, i) => playOnce(from + i)));
  };

  it.each(SERVED_FAMILIES)('%s: 200 episodes leave none behind', async (family) => {
    await start(family);
    await playMany(NUM_EPISODES);
    expect(server.faults).toEqual([]);
    expect(server.most.instances).toBeLessThanOrEqual(AT_A_TIME);
    if (findFamily(family).hasClose) expect(server.numInstances()).toBe(0);
  });

  it.each(SERVED_FAMILIES.filter((family) => family !== 'wordle'))(
    '%s: the first observation names the task',
    async (family) => {
      await start(family);
      expect(await playOnce(17)).toContain('17');
    },
  );

  it("sciworld: the agent reads the task, as AgentGym's client shows it", async () => {
    await start('sciworld');
    expect(await playOnce(5)).toBe('Task Description: boil 5.\nThis room is called the hallway.');
  });

  it.each(['maze', 'alfworld', 'webshop', 'weather'])(
    '%s: after a restart of the server no episode gets the instance of another',
    async (family) => {
      await start(family);
      await playMany(8);
      server.restart();
      const [first, second, third] = [0, 1, 2].map(() => open.spec.create());
      await first.reset(taskOf(1));
      await second.reset(taskOf(2));
      await third.reset(taskOf(3));
      expect(server.faults).toEqual([]);
      expect(server.numInstances()).toBe(3);
      for (const environment of [first, second, third]) await environment.close();
      await first.close();
    },
  );

  it('closes an instance whose environment was closed while it was being made, and those that are open at the end', async () => {
    await start('sciworld');
    const early = open.spec.create();
    const refused = expect(Promise.resolve(early.reset(taskOf(1)))).resolves.toBeDefined();
    await expect.poll(() => server.most.instances).toBe(1);
    await early.close();
    await refused.catch(() => undefined);
    await expect.poll(() => server.numInstances()).toBe(0);
    const left = open.spec.create();
    await left.reset(taskOf(2));
    expect(server.numInstances()).toBe(1);
    await open.close();
    expect(server.numInstances()).toBe(0);
  });
});
