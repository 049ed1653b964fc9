import { describe, expect, it } from 'vitest';
import { recipeHash, requestHash } from '../resolve/recipe-hash.js';
import { parseRecipe, resolveRecipe } from '../resolve/resolve-recipe.js';

function problemOf(...assignments: string[]): string {
  try {
    resolveRecipe('bandit-ppo', { assignments });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const TORCH = 'engine.kind=torch';

describe('the section engine', () => {
  it('is absent in built-in recipes, and its absence means TensorFlow.js', () => {
    const plain = resolveRecipe('bandit-ppo');
    expect(plain.engine).toBeUndefined();
    expect(JSON.stringify(plain)).not.toContain('engine');
    expect(problemOf('engine=null')).toBe('');
    expect(problemOf('engine.kind=tensorflow')).toBe('');
  });

  it('takes what each kind of engine has', () => {
    expect(problemOf(TORCH)).toBe('');
    expect(
      problemOf(TORCH, 'engine.processes=4', 'engine.python=python3.12', 'engine.precision=bfloat16'),
    ).toBe('');
    expect(problemOf(TORCH, 'engine.recomputeLayers=true', 'engine.offload=true')).toBe('');
    expect(problemOf(TORCH, 'engine.url=http://host:8100', 'engine.tokenFile=token')).toBe('');
    expect(problemOf(TORCH, 'optimizer.recomputeLayers=true', 'model.valueTrunk=own')).toBe('');
  });

  it('reads null as an absent field, so that an assignment takes one away', () => {
    const { engine } = resolveRecipe('bandit-ppo', {
      assignments: [TORCH, 'engine.processes=2', 'engine.precision=bfloat16', 'engine.processes=null'],
    });
    expect({ ...engine }).toEqual({ kind: 'torch', precision: 'bfloat16' });
    expect(problemOf(TORCH, 'engine.kind=null')).toContain('engine.kind');
  });

  it.each([
    [
      ['engine.kind=jax'],
      'engine.kind: got "jax", must be one of the following values: tensorflow, torch, tinker',
    ],
    [['engine.processes=2'], 'engine.kind'],
    [
      ['engine.kind=tensorflow', 'engine.processes=2'],
      'engine.processes: got 2, must be absent where engine.kind is "tensorflow"',
    ],
    [[TORCH, 'engine.processes=0'], 'engine.processes: got 0'],
    [[TORCH, 'engine.url=host:8100'], 'engine.url: got "host:8100", must be http://host:port without a path'],
    [
      [TORCH, 'engine.url=http://host:8100', 'engine.processes=2'],
      'engine.processes: got 2, must be absent with engine.url, which names a worker that runs already',
    ],
    [
      [TORCH, 'engine.tokenFile=token'],
      'must be absent without engine.url: it is for the server there, and a worker that the trainer starts gets its own',
    ],
    [
      [TORCH, 'optimizer.dataParallel=2'],
      'optimizer.dataParallel: got 2, which engine "torch" can\'t honour; set engine.processes instead',
    ],
    [
      [TORCH, 'compute.matMulPrecision=bfloat16'],
      'compute.matMulPrecision: got "bfloat16", which engine "torch" can\'t honour; set engine.precision instead',
    ],
    [[TORCH, 'compute.optimizerOffload=disk'], 'compute.optimizerOffload: got "disk"'],
    [[TORCH, 'compute.referenceOffload=true'], 'compute.referenceOffload: got true'],
  ])('refuses %j by its field', (assignments, expected) => {
    expect(problemOf(...assignments)).toContain(expected);
  });

  it('is no part of the hashes of a recipe, so that a run may go on with another engine', () => {
    const plain = resolveRecipe('bandit-ppo');
    const onTorch = resolveRecipe('bandit-ppo', { assignments: [TORCH, 'engine.processes=2'] });
    expect(recipeHash(onTorch)).toBe(recipeHash(plain));
    expect(requestHash(onTorch)).toBe(requestHash(plain));
    expect(recipeHash(parseRecipe(JSON.parse(JSON.stringify(onTorch))))).toBe(recipeHash(plain));
    const other = resolveRecipe('bandit-ppo', { assignments: ['optimizer.epochs=3'] });
    expect(recipeHash(other)).not.toBe(recipeHash(plain));
  });

  it('has paths relative to the directory where they were written', () => {
    const { engine } = resolveRecipe('bandit-ppo', {
      assignments: [TORCH, 'engine.url=http://host:8100', 'engine.tokenFile=secrets/token'],
    });
    expect(engine?.tokenFile).toBe(`${process.cwd()}/secrets/token`);
    const python = (path: string) =>
      resolveRecipe('bandit-ppo', { assignments: [TORCH, `engine.python=${path}`] }).engine?.python;
    expect(python('.venv/bin/python')).toBe(`${process.cwd()}/.venv/bin/python`);
    expect(python('python3.12')).toBe('python3.12');
  });
});

describe("verl's engine in the torch worker", () => {
  const VERL = [TORCH, 'engine.backend=verl'];
  const NO_CRITIC = ['loss.valueCoefficient=0', 'advantage={"estimator":"reinforcePlusPlus","options":{}}'];

  it('takes settings under the names of verl', () => {
    expect(problemOf(...VERL, ...NO_CRITIC, 'engine.options={"fsdp_size":2}')).toBe('');
  });

  it.each([
    [
      [TORCH, 'engine.options={"fsdp_size":2}'],
      'engine.options: got {"fsdp_size":2}, must be absent where engine.backend is not "verl"',
    ],
    [
      ['engine.kind=tensorflow', 'engine.backend=verl'],
      'engine.backend: got "verl", must be absent where engine.kind is "tensorflow"',
    ],
    [
      VERL,
      'loss.valueCoefficient: got 0.5, which back-end "verl" of engine "torch" can\'t honour: critics are',
    ],
    [[...VERL, ...NO_CRITIC, 'optimizer.criticLearningRate=0.1'], 'optimizer.criticLearningRate: got 0.1'],
    [
      [...VERL, ...NO_CRITIC, 'loss.klCoefficient=0.1', 'loss.referenceDecay=0.5'],
      'loss.referenceDecay: got 0.5',
    ],
    [
      [...VERL, ...NO_CRITIC, 'optimizer.guard={"skipNonFinite":true}'],
      'optimizer.guard.skipNonFinite: got true',
    ],
  ])('refuses %j', (assignments, message) => {
    expect(problemOf(...assignments)).toContain(message);
  });
});
