import { resolveRecipe } from '@retrace/config';
import { getEnvironment, type EnvironmentSpec } from '@retrace/environments';
import { ProtocolHost } from '@retrace/environment-sources/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { checkRecipe } from './check-recipe.js';

describe('checkRecipe', () => {
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
    await expect(checkRecipe(recipe)).rejects.toMatchObject({
      code: 'RECIPE_INVALID',
      message: expect.stringContaining(
        'environment.server.anchor: got "environment", must be "observation" with advantage.estimator gigpo',
      ) as string,
    });
  });

  it('takes it where the server identifies states, or the recipe does by their text', async () => {
    const lake = await recipeOn(getEnvironment('frozen-lake'));
    expect(await checkRecipe(lake)).toBe(lake);
    await host.stop();
    const bandit = await recipeOn(getEnvironment('memory-bandit'), { anchor: 'observation' });
    expect(await checkRecipe(bandit)).toBe(bandit);
    expect(host.numConnections).toBe(0);
  });
});
