import { describe, expect, it } from 'vitest';
import { LORA_TARGETS } from './model-recipe.js';
import { recipeHash } from '../resolve/recipe-hash.js';
import { resolveRecipe } from '../resolve/resolve-recipe.js';

const LORA = { rank: 8, alpha: 32, targets: LORA_TARGETS };
const POLICY = { model: 'models/qwen3', maxPositions: 512, lora: LORA };

function resolve(...assignments: string[]) {
  return resolveRecipe('bandit-ppo', {
    assignments: [
      ...['model=null', 'context.tokenizer=model', `policy=${JSON.stringify(POLICY)}`],
      ...['loss.valueCoefficient=0', 'loss.entropyCoefficient=0', 'optimizer.maxGradientNorm=1e9'],
      'advantage={"estimator":"reinforcePlusPlus","options":{}}',
      ...['engine={"kind":"tinker","url":"http://host:8000"}', ...assignments],
    ],
  });
}

function problemOf(...assignments: string[]): string {
  try {
    resolve(...assignments);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const policyWith = (fields: object) => `policy=${JSON.stringify({ ...POLICY, ...fields })}`;
const SAMPLING = 'collection.endpoint={"kind":"tinker"}';

describe('the engine "tinker"', () => {
  it('takes a recipe that trains adapters by logprobs, wherever the server is', () => {
    expect(problemOf()).toBe('');
    expect(problemOf('engine.url=https://host/services/tinker', 'engine.tokenFile=key')).toBe('');
    expect(problemOf('engine.baseModel=Qwen/Qwen3-8B', SAMPLING, 'loss.klCoefficient=0.1')).toBe('');
    expect(problemOf('optimizer.guard={"maxApproximateKl":0.1}')).toBe('');
    expect(recipeHash(resolve())).toBe(recipeHash(resolve('engine=null')));
  });

  it.each([
    [['engine.url=host:8000'], 'engine.url: got "host:8000", must be http(s)://host'],
    [['engine.url=http://me:secret@host'], 'engine.url: must have no user name and no password'],
    [['engine={"kind":"tinker"}'], 'engine.url: is required'],
    [['engine={"kind":"tinker","tokenFile":"key"}'], 'engine.url: is required where engine.kind is "tinker"'],
    [['engine.processes=2'], 'engine.processes: got 2, must be absent where engine.kind is "tinker"'],
    [['engine.peakFlops=1e12'], 'engine.peakFlops: got'],
    [['engine={"kind":"torch"}', 'engine.baseModel=x'], 'engine.baseModel: got "x", must be absent'],
    [['policy.lora=null'], 'policy.lora: is required'],
    [
      [policyWith({ lora: { ...LORA, targets: ['q_proj'] } })],
      'policy.lora.targets: got q_proj, must be q_proj, k_proj',
    ],
    [
      [policyWith({ lora: undefined, adapter: 'adapters' })],
      'which engine "tinker" can\'t honour: a server takes no weights',
    ],
    [['loss.valueCoefficient=0.5'], 'loss.valueCoefficient: got 0.5'],
    [['loss.entropyCoefficient=0.01'], 'loss.entropyCoefficient: got 0.01'],
    [['loss.topEntropyFraction=0.2'], 'loss.topEntropyFraction: got 0.2'],
    [['loss.klCoefficient=0.1', 'loss.referenceDecay=0.9'], 'loss.referenceDecay: got 0.9'],
    [['collection.temperature=0.7'], 'collection.temperature: got 0.7'],
    [['optimizer.guard={"spikeFactor":3}'], 'optimizer.guard.spikeFactor: got 3'],
    [['optimizer.guard={"skipNonFinite":true}'], 'optimizer.guard.skipNonFinite: got true'],
    [['optimizer.recomputeLayers=true'], 'optimizer.recomputeLayers: got true'],
    [['optimizer.dataParallel=2'], 'optimizer.dataParallel: got 2, which engine "tinker" can\'t honour'],
    [['initFrom={"run":"latest"}'], 'initFrom: must be null with engine "tinker"'],
  ])('refuses %j by its field', (assignments, expected) => {
    expect(problemOf(...assignments)).toContain(expected);
  });

  it.each([
    [['engine=null'], 'collection.endpoint.kind: got "tinker", which needs engine "tinker"'],
    [
      ['collection.endpoint.url=http://host'],
      'collection.endpoint.url: got "http://host", must be absent where collection.endpoint.kind is "tinker"',
    ],
    [['context.stopStrings=["END"]'], 'context.stopStrings: has 1'],
  ])('samples where %j is refused by its field', (assignments, expected) => {
    expect(problemOf(SAMPLING, ...assignments)).toContain(expected);
  });
});
