import { describe, expect, it } from 'vitest';
import { microseconds } from './episode-payloads.js';
import { toEpisodeId } from './episode-id.js';
import { stepPayload } from './step-payload.js';
import type { WireStep } from '../wire/step-record.js';

const step = { type: 'step', episode: 'e', step: 3 } as const;

describe('stepPayload', () => {
  it('leaves unknown what the caller did not say', () => {
    expect(stepPayload(step, 40)).toMatchObject({
      ...{ observation: '', action: '', parsedAction: null, actionValid: null, reward: null, sampling: null },
      ...{ messages: null, usage: null, generationMs: null, engine: '', model: '', logprobMode: 'none' },
      ...{ keptPrefixTokens: 40, untrainable: 'no token ids' },
    });
  });

  it('keeps the whole context, and marks missing logprobs NaN where tokens were sampled and 0 elsewhere', () => {
    const tokens = { ids: [5, 6, 7], mask: [0, 1, 1], logprobs: [null, -0.5, null] };
    const payload = stepPayload({ ...step, tokens, sampling: { temperature: 1 } }, 40);
    expect([...payload.tokenLogprobs]).toEqual([0, -0.5, Number.NaN]);
    expect([...payload.tokenPolicyVersions]).toEqual([-1, -1, -1]);
    expect(payload).toMatchObject({
      keptPrefixTokens: 40,
      logprobMode: 'raw',
      untrainable: 'no behavior logprobs',
    });
  });

  it('calls a step trainable only where the rules do, whatever the caller says', () => {
    const tokens = { ids: [5, 6], mask: [0, 1], logprobs: [null, -0.5] };
    const reason = (more: object): string => stepPayload({ ...step, tokens, ...more }, 0).untrainable;
    expect(reason({ sampling: { temperature: 1 } })).toBe('');
    expect(reason({ sampling: { temperature: 1 }, untrainable: 'from a test' })).toBe('from a test');
    expect(reason({ sampling: { temperature: 0.7 }, untrainable: '' })).toBe('logprobs before temperature');
    expect(reason({ sampling: { temperature: 0.7 }, logprobMode: 'processed' })).toBe('');
    expect(reason({ sampling: { temperature: 1, topP: 0.9 } })).toBe('sampled with top-k or top-p');
    expect(reason({})).toBe('sampling parameters unknown');
  });

  it('takes texts from messages where the caller gives none', () => {
    const messages: NonNullable<WireStep['messages']> = {
      input: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See ' },
            { type: 'image_url', image_url: { url: 'https://x/y.png' } },
          ],
        },
      ],
      output: {
        ...{ role: 'assistant', content: 'Looking.' },
        tool_calls: [{ id: '1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
      },
    };
    expect(stepPayload({ ...step, messages }, 0)).toMatchObject({
      observation: 'user: See [image: https://x/y.png]',
      action: 'Looking.\nlook({"at":1})',
    });
    expect(stepPayload({ ...step, messages, action: 'own' }, 0).action).toBe('own');
  });
});

describe('microseconds', () => {
  it('reads ISO 8601 to the microsecond', () => {
    expect(microseconds('2026-11-23T18:00:00.123456Z')).toBe(
      Date.UTC(2026, 10, 23, 18, 0, 0, 123) * 1000 + 456,
    );
    expect(microseconds('2026-11-23T19:00:00+01:00')).toBe(Date.UTC(2026, 10, 23, 18) * 1000);
    expect(microseconds(5)).toBe(5);
  });
});

describe('toEpisodeId', () => {
  it('takes a UUID as it is, and gives other text an id of the run', () => {
    const run = '01936d00-0000-7000-8000-000000000001';
    expect(toEpisodeId(run, run)).toBe(run);
    expect(toEpisodeId(run, 'mine')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(toEpisodeId(run, 'mine')).toBe(toEpisodeId(run, 'mine'));
    expect(toEpisodeId(run, 'mine')).not.toBe(toEpisodeId(run, 'other'));
    expect(toEpisodeId(run, run.toUpperCase().replace('0', 'A'))).not.toBe(run);
  });
});
