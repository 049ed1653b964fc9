import { resolveRecipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import { planProcesses } from './planned-processes.js';

/** Number, name, and command or address of each; a program of Node by its file alone, which is in the bundle where one was made. */
async function planOf(recipe: string, assignments: readonly string[] = [], options = {}): Promise<string[]> {
  const resolved = resolveRecipe(recipe, { assignments });
  const plan = await planProcesses(resolved, { numCollectors: 1, hasStore: true, ...options });
  return plan.map(({ process, count, command, url }) =>
    [
      count,
      process,
      ...(command ?? [`at ${url ?? ''}`]).map((part) => part.replace(/^.*\/(?=[^/]+\/dist\/)/, '')),
    ].join(' '),
  );
}

const WORKER =
  'python3 -m torch.distributed.run --standalone --nproc-per-node 4 -m retrace.engine --host 127.0.0.1 --port {port} --token-file {token}';

describe('the processes of a run', () => {
  it('are trainer and collector in one for a small recipe, with a store and its sink unless there is none', async () => {
    const onProcessors = async (numProcessors: number) =>
      (await planOf('bandit-ppo', [], { numProcessors })).map((line) => line.replace(/ node .*/, ''));
    const services = ['1 store', '1 sink'];
    expect(await onProcessors(4)).toEqual([...services, '1 trainer+collector', '1 validator']);
    expect(await onProcessors(2)).toEqual([...services, '1 trainer+collector (validates too)']);
    expect((await planOf('bandit-ppo', [], { hasStore: false })).join()).not.toMatch(/store|sink/);
    expect((await planOf('bandit-ppo', [], { numCollectors: 3 })).join()).toMatch(/1 trainer .*3 collector /);
  });

  it.each(['alfworld-ppo-4gpu', 'webshop-grpo-4gpu', 'alfworld-gigpo-4gpu'])(
    'of the preset %s are four ranks of torch, and servers of environment and model that must answer',
    async (preset) => {
      expect((await planOf(preset)).slice(2)).toEqual([
        expect.stringMatching(/^1 trainer node (trainer\/dist|cli\/dist\/bundle\/trainer)\/main\.js$/),
        expect.stringMatching(/^1 collector node (collector\/dist|cli\/dist\/bundle\/collector)\/main\.js$/),
        expect.stringMatching(
          /^1 validator node (collector\/dist\/validator-main|cli\/dist\/bundle\/validator\/main)\.js$/,
        ),
        `1 torch worker (4 ranks) ${WORKER}`,
        '1 environment server at http://127.0.0.1:36001',
        '1 vllm server at http://127.0.0.1:8000',
      ]);
    },
  );

  it('are servers that each collector and the validator start, where a recipe has their command', async () => {
    const server = JSON.stringify({
      ...{ protocol: 'agentgym', family: 'webshop', numTasks: 9, anchor: 'observation' },
      ...{ command: ['webshop', '--port', '{port}'], numServers: 2 },
    });
    const assignments = [`environment={"name":"webshop","server":${server}}`, 'collection.endpoint=null'];
    const plan = await planOf('webshop-grpo-4gpu', assignments, { numCollectors: 2 });
    expect(plan).toContain('6 environment server webshop --port {port}');
  });

  it('are as many sampling servers as a recipe names, or as each collector starts', async () => {
    const urls = ['http://127.0.0.1:8001', 'http://127.0.0.1:8002'];
    const named = `collection.endpoint=${JSON.stringify({ kind: 'vllm', urls })}`;
    expect(await planOf('webshop-grpo-4gpu', [named])).toEqual(
      expect.arrayContaining(urls.map((url) => `1 vllm server at ${url}`)),
    );
    const command = ['vllm', 'serve', '{model}', '--served-model-name', '{name}', '--port', '{port}'];
    const started = `collection.endpoint=${JSON.stringify({ kind: 'vllm', command, numServers: 3 })}`;
    const plan = await planOf('webshop-grpo-4gpu', [started], { numCollectors: 2 });
    expect(plan).toContain(`6 vllm server ${command.join(' ')}`);
  });

  it('are no servers to play on where nobody plays', async () => {
    const offline = [
      'data={"sources":[{"from":"run","run":"latest","share":1}]}',
      ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'],
    ];
    const plan = await planOf('webshop-grpo-4gpu', offline);
    expect(plan.map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      ...['1 store node', '1 sink node', '1 trainer node', '1 torch worker'],
    ]);
  });

  it('are not a worker that others start', async () => {
    const engine = ['engine=null', 'engine.kind=torch', 'engine.url=http://host:8100'];
    expect(await planOf('webshop-grpo-4gpu', engine)).toContain('1 torch worker at http://host:8100');
  });
});
