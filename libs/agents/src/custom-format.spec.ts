import { describe, expect, it } from 'vitest';
import { customFormat } from './custom-format.js';

const ARROW = {
  name: 'arrow',
  prompt: 'Answer "=> action".',
  parse: (text: string) => /=> (.*)$/.exec(text)?.[1] ?? null,
};

describe('an action format of one’s own', () => {
  it('reads a text as one action, and null as an invalid turn that the agent is told of', () => {
    const format = customFormat(ARROW);
    expect(format.instructions).toBe('Answer "=> action".');
    expect(format.parse('I go => left', { legalActions: null })).toEqual({
      ...{ actions: ['left'], thought: null, valid: true, problem: null, toolCalls: [] },
    });
    expect(format.parse('left', { legalActions: null })).toEqual({
      ...{ actions: [], thought: null, valid: false, toolCalls: [] },
      problem: 'Your answer has no action in the format that was asked for.',
    });
  });

  it('reads thought, several actions, and an action of an invalid turn, where the file tells them', () => {
    const parsed = { actions: ['left', 'up'], thought: 'hm', valid: false, problem: 'too long' };
    const seen: unknown[] = [];
    const format = customFormat({
      ...ARROW,
      parse: (_: string, context: unknown) => (seen.push(context), parsed),
    });
    expect(format.parse('', { legalActions: ['up'] })).toEqual({ ...parsed, toolCalls: [] });
    expect(seen).toEqual([{ legalActions: ['up'] }]);
  });

  it('writes only what it reads again: by its own write, or an action that is its own text', () => {
    const written = customFormat({
      ...ARROW,
      write: ({ actions }: { actions: string[] }) => `=> ${actions[0]}`,
    });
    expect(written.write({ actions: ['left'] })).toBe('=> left');
    expect(() => written.write({ actions: ['left', 'up'] })).toThrow('cannot say');
    const echo = customFormat({ ...ARROW, parse: (text: string) => text });
    expect(echo.write({ actions: ['left'] })).toBe('left');
    expect(() => echo.write({ actions: ['left'], thought: 'hm' })).toThrow('its file exports no write');
    expect(() => customFormat(ARROW).write({ actions: ['left'] })).toThrow('the format "arrow" cannot say');
  });

  it.each([
    [undefined, 'name must be a text that is not empty'],
    [{ ...ARROW, prompt: 7 }, 'prompt of the format "arrow" must be a text'],
    [{ ...ARROW, parse: 'x' }, 'parse of the format "arrow" must be a function'],
    [{ ...ARROW, write: true }, 'write of the format "arrow" must be a function'],
    [{ ...ARROW, stopStrings: [1] }, 'stopStrings of the format "arrow" must be a list of texts'],
  ])('is refused as %j, with what is wrong', (exported, message) => {
    expect(() => customFormat(exported)).toThrow(message);
  });

  it.each([7, { actions: 'left' }, { actions: ['left'], valid: 'yes' }, { actions: [], thought: 1 }])(
    'fails, and makes no turn, of what parse returns: %j',
    (returned) => {
      const format = customFormat({ ...ARROW, parse: () => returned });
      expect(() => format.parse('', { legalActions: null })).toThrow('parse of the format "arrow" returned');
    },
  );
});
