import { resolveRecipe } from '@retrace/config';
import { getEnvironment, type EnvironmentSpec } from '@retrace/environments';
import { ProtocolHost } from '@retrace/environment-sources/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { checkTrainingRecipe, engineAssignments } from './training-recipe.js';

describe('checkTrainingRecipe', () => {
  let host: ProtocolHost;
  afterEach(() => host.stop());

  const recipeOn = async (spec: EnvironmentSpec, anchor: object = {}) => {
    host = await ProtocolHost.start(spec);
    const server = { protocol: 'retrace', urls: [host.url], ...anchor };
    return resolveRecipe('textcraft-gigpo', {
      assignments: [`environment.server=${JSON.stringify(server)}`],
    });
  };

  it('refuses GiGPO where the server says that it identifies no states, and names the field that mends it', async () => {
    const recipe = await recipeOn(getEnvironment('memory-bandit'));
    await expect(checkTrainingRecipe(recipe)).rejects.toMatchObject({
      code: 'RECIPE_INVALID',
      message: expect.stringContaining(
        'environment.server.anchor: got "environment", must be "observation" with advantage.estimator gigpo',
      ) as string,
    });
  });

  it('takes it where the server identifies states, or the recipe does by their text', async () => {
    const lake = await recipeOn(getEnvironment('frozen-lake'));
    expect(await checkTrainingRecipe(lake)).toBe(lake);
    await host.stop();
    const bandit = await recipeOn(getEnvironment('memory-bandit'), { anchor: 'observation' });
    expect(await checkTrainingRecipe(bandit)).toBe(bandit);
    expect(host.numConnections).toBe(0);
  });
});

describe('engineAssignments', () => {
  const written = [
    ...['engine.kind=torch', 'engine.precision=bfloat16', 'engine.backend=verl', 'engine.processes=2'],
    ...['engine.python=python3.12', 'engine.options={"fsdp_config.offload_policy":true}'],
  ];
  const engineWith = (options: Parameters<typeof engineAssignments>[0], own = written) => ({
    ...resolveRecipe('memory-bandit-grpo', { assignments: [...own, ...engineAssignments(options)] }).engine,
  });

  it('points to a worker that runs already, and keeps how the recipe computes', () => {
    expect(engineWith({ engineUrl: 'http://host:8100', engineTokenFile: 'token' })).toMatchObject({
      kind: 'torch',
      url: 'http://host:8100',
      precision: 'bfloat16',
      backend: 'verl',
      options: { 'fsdp_config.offload_policy': true },
    });
    expect(engineWith({ engineUrl: 'http://host:8100' })).not.toHaveProperty('processes');
  });

  it('drops the token of another worker, and the base model of a Tinker server', () => {
    const moved = ['engine.kind=torch', 'engine.url=http://old:8100', 'engine.tokenFile=old'];
    expect(engineWith({ engineUrl: 'http://new:8100' }, moved)).toEqual({
      kind: 'torch',
      url: 'http://new:8100',
    });
    const tinker = ['engine.kind=tinker', 'engine.url=http://old:8000', 'engine.baseModel=Qwen/Qwen3-0.6B'];
    expect(engineAssignments({ engineUrl: 'http://new:8100' })).toContain('engine.baseModel=null');
    expect(engineWith({ engineUrl: 'http://new:8100' }, tinker)).toEqual({
      kind: 'torch',
      url: 'http://new:8100',
    });
  });

  it('drops the settings of verl where the native back-end is asked for', () => {
    const { options, backend } = engineWith({ engineBackend: 'native' });
    expect({ options, backend }).toEqual({ options: undefined, backend: 'native' });
  });
});
