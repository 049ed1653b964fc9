import { describe, expect, it } from 'vitest';
import { mapAll, steps } from './testing/map-all.js';
import { withStatedFacts } from './stated-facts.js';

describe('what is stated of the tokens of an import', () => {
  const trajectory = (retrace: object) => ({
    schema_version: 'ATIF-v1.8',
    agent: { name: 'a', version: '1' },
    steps: [
      { step_id: 1, source: 'user', message: 'q' },
      {
        step_id: 2,
        source: 'agent',
        message: 'a',
        metrics: { prompt_token_ids: [1], completion_token_ids: [2], logprobs: [-0.5] },
        extra: { retrace },
      },
      { step_id: 3, source: 'agent', message: 'b' },
    ],
  });
  const facts = { temperature: 1, logprobMode: 'processed', tokenizerHash: 'abc' } as const;
  const stated = (retrace: object) =>
    steps(mapAll('atif', [trajectory(retrace)]).episodes[0].map((record) => withStatedFacts(record, facts)));

  it('is said of steps with tokens, and of no others', () => {
    const [first, second] = stated({});
    expect(first).toMatchObject({
      sampling: { temperature: 1 },
      logprobMode: 'processed',
      tokenizerHash: 'abc',
    });
    expect(second).not.toHaveProperty('sampling');
    expect(second).not.toHaveProperty('tokenizerHash');
  });

  it('does not replace what the data says itself', () => {
    const own = { sampling: { temperature: 0.5 }, logprobMode: 'raw', tokenizerHash: 'def' };
    expect(stated(own)[0]).toMatchObject(own);
  });
});
