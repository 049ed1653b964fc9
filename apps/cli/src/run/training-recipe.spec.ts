import { resolveRecipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import { engineAssignments, initAssignment } from './training-recipe.js';

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

describe('initAssignment', () => {
  it('takes a model directory by its path, and refuses other words', () => {
    expect(initAssignment('./model')).toBe('policy.model="./model"');
    expect(() => initAssignment('model')).toThrow(/must be "run:<run>"/);
    expect(() => resolveRecipe('bandit-ppo', { assignments: [initAssignment('run:x@y')] })).toThrow(
      /initFrom.version: got "y", must be "latest", "best" or the number/,
    );
  });
});
