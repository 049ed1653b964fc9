import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ActionFormat, ToolSchema } from '../action-format.js';
import { AgentFormatError } from '../errors.js';
import { actionFormat, listActionFormats } from '../registry.js';

const CONTEXT = { legalActions: null };
const MAX_ACTIONS = 3;

const CRAFT: ToolSchema = {
  name: 'craft',
  parameters: {
    type: 'object',
    properties: { item: { type: 'string' }, count: { type: 'integer' } },
    required: ['item'],
  },
};
const GO: ToolSchema = {
  name: 'go',
  parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  action: 'go to {to}',
};

const BOTH = listActionFormats().flatMap((name) =>
  [true, false].map((strict) => ({
    title: `${name}, ${strict ? 'strict' : 'lenient'}`,
    format: actionFormat(name, { strict, maxActions: MAX_ACTIONS }),
    tooled: actionFormat(name, { strict, maxActions: MAX_ACTIONS, tools: [GO, CRAFT] }),
  })),
);

/** Pieces from which fragments of every format are made. */
const PIECES = [
  ...[
    '<think>',
    '</think>',
    '<action>',
    '</action>',
    '<answer>',
    '</answer>',
    '<plan>',
    '<search>',
    '</search>',
  ],
  ...[
    '<tool_call>',
    '</tool_call>',
    'Thought:',
    'Action:',
    '\nObservation:',
    '||',
    '```json',
    '```',
    'tool:',
    'parameters:',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    ':',
    ',',
    '\\',
    '\n',
    ' ',
    '"name"',
    '"arguments"',
    'null',
    '1',
    'craft',
    'left',
    'İ',
    '\u{1F600}',
    '\ud800',
    '动',
  ],
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((parts) => parts.join(''));
const words = fc.array(fc.constantFrom('go', 'to', 'desk', '1', 'a "b"', '{x}', "it's", '门'), {
  minLength: 1,
  maxLength: 5,
});
const sentence = words.map((parts) => parts.join(' '));

/** Text of a turn; null when the format refuses to write it. */
function written(format: ActionFormat, turn: Parameters<ActionFormat['write']>[0]): string | null {
  try {
    return format.write(turn);
  } catch (error) {
    expect(error).toBeInstanceOf(AgentFormatError);
    expect(error).toMatchObject({ code: 'NOT_WRITABLE' });
    return null;
  }
}

describe.each(BOTH)('$title', ({ format, tooled }) => {
  it('returns each turn of usual words that it writes', () => {
    const takesThoughts = format.name !== 'bare';
    fc.assert(
      fc.property(sentence, sentence, (thought, words) => {
        const action = format.name === 'search-answer' ? `<search>${words}</search>` : words;
        const turn = { ...(takesThoughts && { thought }), actions: [action] };
        expect(format.parse(format.write(turn), CONTEXT)).toMatchObject({
          actions: [action],
          thought: takesThoughts ? thought : null,
          valid: true,
          problem: null,
        });
      }),
    );
  });

  it('returns each turn of any text that it writes', () => {
    fc.assert(
      fc.property(
        fc.oneof(text, fc.string()),
        fc.array(fc.oneof(text, fc.string()), { maxLength: 4 }),
        (thought, actions) => {
          const reply = written(format, { thought, actions });
          if (reply === null) return;
          const read = format.parse(reply, CONTEXT);
          expect(read).toMatchObject({ actions, thought: thought === '' ? null : thought, valid: true });
        },
      ),
    );
  });

  it('never throws, and says why a turn is invalid', () => {
    fc.assert(
      fc.property(text, fc.option(fc.array(sentence)), (reply, legalActions) => {
        for (const each of [format, tooled]) {
          const turn = each.parse(reply, { legalActions });
          expect(turn.valid).toBe(turn.problem === null);
          expect(turn.thought).not.toBe('');
          expect(turn.actions.length).toBeLessThanOrEqual(MAX_ACTIONS);
          expect(turn.valid && turn.actions.length === 0).toBe(false);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('texts of 500 kB', () => {
  const SIZE = Number(process.env.RETRACE_FORMAT_TEXT ?? 500_000);
  const PATTERNS = [
    '<think>',
    '<action>',
    '</answer>',
    '<tool_call>',
    '<tool_call></tool_call>',
    'Action:',
    'Action: \n',
    '{',
    '[',
    '{"a":',
    '"',
    '||',
    'tool:\n',
    'parameters: {\n',
    '```',
    ' ',
    'x',
  ];

  it.each(BOTH)('$title: reads them in time linear in their length', ({ format, tooled }) => {
    for (const pattern of PATTERNS) {
      const body = pattern.repeat(SIZE / pattern.length);
      for (const [each, reply] of [
        [format, body],
        [tooled, `<tool_call>${body}</tool_call>`],
      ] as const) {
        const startedMs = performance.now();
        each.parse(reply, CONTEXT);
        expect(performance.now() - startedMs, `${each.name} over ${pattern}`).toBeLessThan(3000);
      }
    }
  });
});
