import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WireEpisode } from '../wire/episode-records.js';
import type { WireStep } from '../wire/step-record.js';
import { redact } from './redact.js';
import { compileRedactionRules } from './redaction-rules.js';

const EMAIL = { name: 'email', pattern: '[\\w.+-]+@[\\w-]+\\.\\w+', ignoreCase: true };
const STEP: WireStep = {
  type: 'step',
  episode: 'conversation of bob@example.com',
  step: 0,
  observation: 'from bob@example.com to EVE@EXAMPLE.ORG',
  messages: {
    input: [
      { role: 'user', content: [{ type: 'text', text: 'I am bob@example.com' }] },
      { role: 'tool', tool_call_id: '1', content: 'ok' },
    ],
    output: {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: '1', type: 'function', function: { name: 'mail', arguments: '{"to":"bob@example.com"}' } },
      ],
    },
  },
  info: { 'bob@example.com': 1, 'eve@example.org': 2, plain: 'text' },
  tokens: { ids: [5, 6], mask: [0, 1], logprobs: [null, -0.5] },
  logprobMode: 'raw',
  reward: 1,
};

/** Redacts and counts. */
function run<T extends object>(
  value: T,
  content: unknown,
): { readonly value: T; readonly counts: Record<string, number> } {
  const counts: Record<string, number> = {};
  const redacted = redact(value, compileRedactionRules(content), (rule) => {
    counts[rule] = (counts[rule] ?? 0) + 1;
  });
  return { value: redacted, counts };
}

describe('redact', () => {
  it('hides what a pattern finds in texts, messages, tool calls and names of fields, and counts it', () => {
    const before = structuredClone(STEP);
    const { value, counts } = run(STEP, { rules: [EMAIL] });
    expect(value).toEqual({
      type: 'step',
      episode: 'conversation of bob@example.com',
      step: 0,
      observation: 'from [redacted:email] to [redacted:email]',
      messages: {
        input: [
          { role: 'user', content: [{ type: 'text', text: 'I am [redacted:email]' }] },
          { role: 'tool', tool_call_id: '1', content: 'ok' },
        ],
        output: {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: '1', type: 'function', function: { name: 'mail', arguments: '{"to":"[redacted:email]"}' } },
          ],
        },
      },
      info: { '[redacted:email]': 1, '[redacted:email] 2': 2, plain: 'text' },
      reward: 1,
    });
    expect(counts).toEqual({ email: 6 });
    expect(STEP).toEqual(before);
  });

  it('leaves tokens out, as they can be decoded, unless the rules keep them', () => {
    expect(run(STEP, { rules: [] }).value).not.toHaveProperty('tokens');
    expect(run(STEP, { rules: [] }).value).not.toHaveProperty('logprobMode');
    expect(run(STEP, { rules: [], tokens: 'keep' }).value).toEqual(STEP);
  });

  it('hides the whole of a field: text by the replacement, anything else by null', () => {
    const rule = { name: 'who', fields: ['metadata.*.name', 'metadata.phones', 'tags.*'], replacement: '…' };
    const episode: WireEpisode = {
      type: 'episode',
      episode: '01890000-0000-7000-8000-000000000001',
      tags: ['a', 'b'],
      metadata: {
        user: { name: 'Bob', age: 7 },
        boss: { name: { first: 'Eve' } },
        phones: [1],
        name: 'kept',
      },
    };
    expect(run(episode, { rules: [rule] })).toEqual({
      value: {
        ...episode,
        tags: ['…', '…'],
        metadata: { user: { name: '…', age: 7 }, boss: { name: null }, phones: null, name: 'kept' },
      },
      counts: { who: 5 },
    });
  });

  it('searches only the fields of a rule, with all below them', () => {
    const rule = { ...EMAIL, fields: ['messages.input', 'info.other'] };
    const { value, counts } = run(STEP, { rules: [rule] });
    expect(counts).toEqual({ email: 1 });
    expect(JSON.stringify(value.messages?.input)).toContain('I am [redacted:email]');
    expect(value).toMatchObject({ observation: STEP.observation, info: STEP.info });
  });

  it('keeps groups and external ids apart by a hash, and hides the name of an episode in the external id', () => {
    const sha = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
    const { value } = run(
      { type: 'episode', episode: 'of bob@example.com', groupId: 'eve@example.org' },
      { rules: [EMAIL] },
    );
    expect(value).toEqual({
      type: 'episode',
      episode: 'of bob@example.com',
      groupId: `[redacted:email]${sha('eve@example.org')}`,
      externalId: `of [redacted:email]${sha('bob@example.com')}`,
    });
    expect(run({ type: 'episode', episode: 'plain' }, { rules: [EMAIL] }).value).toEqual({
      type: 'episode',
      episode: 'plain',
      externalId: 'plain',
    });
  });

  it('hides a secret wherever it is in the free fields, and changes nothing when applied again', () => {
    const secret = 'SK0123456789';
    const rules = { rules: [{ name: 'key', pattern: 'SK[0-9]{10}' }] };
    const texts = fc.oneof(
      fc.string(),
      fc.tuple(fc.string(), fc.string()).map(([a, b]) => `${a}${secret}${b}`),
    );
    const json = fc
      .jsonValue({ maxDepth: 3 })
      .chain((value) =>
        fc
          .tuple(fc.constant(value), texts, texts)
          .map(([inner, key, text]) => ({ [key]: inner, list: [text, { [text]: key }] })),
      );
    const records = fc.record({
      type: fc.constant('step' as const),
      episode: fc.constant('e'),
      step: fc.nat(),
      observation: texts,
      action: texts,
      parsedAction: texts,
      anchor: texts,
      info: json,
      messages: fc.record({ input: fc.array(json), output: json }),
      engine: texts,
      model: texts,
      untrainable: texts,
    });
    fc.assert(
      fc.property(records, (record) => {
        const { value, counts } = run(record, rules);
        const numBefore = JSON.stringify(record).split(secret).length - 1;
        expect(JSON.stringify(value)).not.toContain(secret);
        expect(counts.key ?? 0).toBe(numBefore);
        expect(run(value, rules)).toEqual({ value, counts: {} });
      }),
      { numRuns: 300 },
    );
  });

  it('takes a time that is linear in the text for a pattern that backtracks exponentially elsewhere', () => {
    const startedAtMs = performance.now();
    const { value } = run(
      { observation: `${'a'.repeat(200_000)}b` },
      { rules: [{ name: 'evil', pattern: '(a+)+$' }] },
    );
    expect(value.observation).toHaveLength(200_001);
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
  });
});

describe('redact of a notebook', () => {
  const cell = {
    ...{ kind: 'sql', text: 'SELECT kind', view: 'chart' },
    plot: { x: 'kind', ys: ['sql', 'a'], by: null },
  };

  it('hides texts and names of columns, and leaves what makes it a notebook', () => {
    const { value } = run(
      { title: 'sql', cells: [cell] },
      { rules: [{ name: 'w', pattern: 'kind|sql|text' }] },
    );
    const hidden = '[redacted:w]';
    expect(value).toEqual({
      title: hidden,
      cells: [{ ...cell, text: `SELECT ${hidden}`, plot: { x: hidden, ys: [hidden, 'a'], by: null } }],
    });
  });

  it('hides the texts of all cells by a rule without a pattern, or those that its path names', () => {
    const cells = [cell];
    const whole = run({ cells }, { rules: [{ name: 'w', fields: ['cells'], replacement: '' }] }).value;
    expect(whole).toEqual({ cells: [{ ...cell, text: '', plot: { x: '', ys: ['', ''], by: null } }] });
    const texts = run({ cells }, { rules: [{ name: 'w', fields: ['cells.*.text'] }] }).value;
    expect(texts).toEqual({ cells: [{ ...cell, text: '[redacted:w]' }] });
  });
});

describe('compileRedactionRules', () => {
  it.each([
    [{}, /it must have required property 'rules'/],
    [{ rules: [{ name: 'a' }] }, /\/rules\/0 must have required property 'pattern'/],
    [{ rules: [{ name: 'a b', pattern: 'x' }] }, /\/rules\/0\/name must match pattern/],
    [{ rules: [{ name: 'a', pattern: 'x', flags: 'i' }] }, /\/rules\/0 must NOT have additional properties/],
    [{ rules: [EMAIL, EMAIL] }, /two rules have the name "email"/],
    [
      { rules: [{ name: 'a', pattern: '(?=x)' }] },
      /rule "a": error parsing regexp: invalid or unsupported Perl syntax: `\(\?=`/,
    ],
    [{ rules: [{ name: 'a', pattern: 'x*' }] }, /rule "a": its pattern matches the empty text/],
    [
      { rules: [{ name: 'a', fields: ['episode'] }] },
      /rule "a": path "episode" must start with one of name, environment, /,
    ],
    [{ rules: [], tokens: 'mask' }, /\/tokens must be equal to one of the allowed values/],
    [{ rules: [], tokens: true }, /\/tokens must be equal to one of the allowed values/],
  ])('refuses %j with the rule and the reason', (content, message) => {
    expect(() => compileRedactionRules(content)).toThrow(message);
  });
});
