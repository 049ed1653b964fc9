import { describe, expect, it } from 'vitest';
import { fromLangChain } from './langchain-messages.js';
import { generationCall } from './openai-agents-calls.js';
import type { AgentsSpan } from './openai-agents-spans.js';
import { reasoningOf } from './reasoning.js';

const TEXT = 'two and two';
const ANSWER = { type: 'text', text: '4' };
const STORED = { role: 'assistant', content: '4', reasoning_content: TEXT };

describe('the reasoning of a message', () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['reasoning_content', { reasoning_content: TEXT, content: '4' }],
    ['reasoning', { reasoning: TEXT, content: '4' }],
    ['thinking', { thinking: TEXT, content: '4' }],
    ['reasoning_details', { content: '4', reasoning_details: [{ type: 'reasoning.text', text: TEXT }] }],
    ['a part of type thinking', { content: [{ type: 'thinking', thinking: TEXT, signature: 's' }, ANSWER] }],
    ['a part of type reasoning', { content: [{ type: 'reasoning', reasoning: TEXT }, ANSWER] }],
    [
      'a part with a summary',
      { content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: TEXT }] }, ANSWER] },
    ],
  ])('is recorded from %s, of the OpenAI Agents SDK and of LangChain', (_, fields) => {
    const { content, ...others } = fields;
    expect(fromLangChain({ getType: () => 'ai', content, additional_kwargs: others })).toEqual(STORED);
    const output = [{ choices: [{ message: { role: 'assistant', ...fields } }] }];
    const span = { spanData: { type: 'generation', output } } as unknown as AgentsSpan;
    expect(generationCall(span).output).toEqual(STORED);
  });

  it('is empty where it is encrypted, or nested deeper than any server writes it', () => {
    expect(reasoningOf({ content: [{ type: 'redacted_thinking', data: 'x' }, ANSWER] })).toBe('');
    let deep: unknown = TEXT;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(reasoningOf({ thinking: deep })).toBe('');
  });
});
