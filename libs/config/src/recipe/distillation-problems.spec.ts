import { describe, expect, it } from 'vitest';
import { resolveRecipe } from '../resolve/resolve-recipe.js';

const refusal =
  (...assignments: string[]) =>
  () =>
    resolveRecipe('distillation', { assignments });

const teacherAt = (url: string) =>
  `distillation.teacher=${JSON.stringify({ endpoint: { kind: 'vllm', url, model: 'teacher' } })}`;

describe('a recipe with a teacher', () => {
  it('may name a server, with any engine', () => {
    const server = teacherAt('http://127.0.0.1:8000');
    const assignments = [server, 'distillation.topK=8', 'engine={"kind": "torch"}'];
    expect(resolveRecipe('distillation', { assignments }).distillation).toMatchObject({
      teacher: { endpoint: { kind: 'vllm', url: 'http://127.0.0.1:8000', model: 'teacher' } },
      topK: 8,
    });
  });

  it.each([
    [
      ['distillation.teacher={}'],
      'distillation.teacher: got none of policy, model and endpoint, must have one of policy, model and endpoint',
    ],
    [['distillation.teacher.model=./m'], 'distillation.teacher: got policy and model, must have one of'],
    [
      ['distillation.teacher={"endpoint": {"kind": "vllm", "url": "http://127.0.0.1:8000"}}'],
      'distillation.teacher.endpoint.model: missing, must be the name under which the server serves the teacher',
    ],
    [
      [teacherAt('http://127.0.0.1:8000/v1')],
      'distillation.teacher.endpoint.url: got "http://127.0.0.1:8000/v1", must be http(s)://host:port without a path',
    ],
    [
      [
        'distillation.teacher={"endpoint": {"kind": "tinker", "url": "http://127.0.0.1:8000/services/tinker"}}',
      ],
      'distillation.teacher.endpoint.model: missing, must be the name under which the server serves the teacher',
    ],
    [
      [
        'distillation.teacher={"endpoint": {"kind": "tinker", "url": "https://host/services/tinker", "model": "m", "timeoutMs": 5}}',
      ],
      'distillation.teacher.endpoint.timeoutMs: got 5, must be absent where distillation.teacher.endpoint.kind is "tinker"',
    ],
    [
      [teacherAt('http://key@127.0.0.1:8000')],
      /distillation\.teacher\.endpoint\.url: must have no user name and no password; a key goes into apiKeyVariable/,
    ],
    [
      [teacherAt('http://127.0.0.1:99999')],
      'distillation.teacher.endpoint.url: got "http://127.0.0.1:99999", must be',
    ],
    [
      [teacherAt('http://127.0.0.1:8000'), 'optimizer.guard={"maxApproximateKl":0.02}'],
      'optimizer.guard: must be null with distillation.teacher.endpoint',
    ],
    [
      [teacherAt('http://127.0.0.1:8000'), 'advantage.resampling={"rule":"power"}'],
      'advantage.resampling: must be null with distillation.teacher.endpoint',
    ],
    [
      [teacherAt('http://127.0.0.1:8000'), 'collection.temperature=0.8'],
      'collection.temperature: got 0.8, must be 1 with distillation.teacher.endpoint',
    ],
    [
      [teacherAt('http://127.0.0.1:8000'), 'updateTokens=false'],
      'updateTokens: got false, must be true with distillation.teacher.endpoint',
    ],
    [['distillation.coefficient=0'], 'distillation.coefficient: got 0, must be a number from 0.0001 to 100'],
    [['distillation.topK=0'], 'distillation.topK: got 0, must be a whole number from 1 to 100'],
    [['distillation.topK=101'], 'distillation.topK: got 101, must be a whole number from 1 to 100'],
    [
      ['distillation.objective="forwardKl"'],
      'distillation.objective: got "forwardKl", must be "reverseKl" without distillation.topK',
    ],
    [
      [
        'distillation.teacher={"endpoint": {"kind": "tinker", "url": "http://127.0.0.1:8000", "model": "m"}}',
        'distillation.topK=8',
      ],
      'distillation.topK: got 8, must be null with distillation.teacher.endpoint.kind "tinker"',
    ],
    [
      ['distillation.topK=8', 'engine={"kind": "torch", "backend": "verl"}'],
      'distillation.topK: got 8, must be null with engine.backend "verl"',
    ],
    [
      ['distillation.topK=8', 'engine={"kind": "tinker", "url": "http://127.0.0.1:8000"}'],
      'distillation.topK: got 8, must be null with engine "tinker"',
    ],
    [
      ['distillation.topK=8', 'sampler={"rule": "prioritized"}'],
      'sampler.priority: got "absoluteAdvantage", must be "tdError" or SQL with distillation.topK',
    ],
    [
      ['loss.valueCoefficient=0.5'],
      'loss.valueCoefficient: got 0.5, must be 0 without distillation.withReward',
    ],
    [['advantage.shuffle=true'], 'advantage.shuffle: got true, must be false with distillation'],
    [
      ['distillation.teacher={"model": "./m"}', 'engine={"kind": "torch"}'],
      /distillation\.teacher\.model: got ".*\/m", must be absent with engine "torch"/,
    ],
    [
      [`distillation.teacher.fingerprint=${'0'.repeat(64)}`],
      /distillation\.teacher\.fingerprint: got "0+", must be absent without distillation\.teacher\.model/,
    ],
  ])('is refused with %j', (assignments, message) => {
    expect(refusal(...assignments)).toThrow(message);
  });

  it('has the path of a model directory made absolute', () => {
    const recipe = resolveRecipe('distillation', { assignments: ['distillation.teacher={"model": "./m"}'] });
    expect(recipe.distillation?.teacher.model).toMatch(/^\/.*\/m$/);
  });
});
