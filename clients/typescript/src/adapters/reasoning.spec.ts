import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fromLangChain } from './langchain-messages.js';
import { generationCall } from './openai-agents-calls.js';
import type { AgentsSpan } from './openai-agents-spans.js';
import { reasoningOf } from './reasoning.js';

const TEXT = 'two and two';
const ANSWER = { type: 'text', text: '4' };
const STORED = { role: 'assistant', content: '4', reasoning_content: TEXT };

interface Vector {
  readonly name: string;
  readonly message: Readonly<Record<string, unknown>>;
  readonly reasoning: string;
}

const VECTORS = JSON.parse(
  readFileSync(new URL('../../../vectors/reasoning.json', import.meta.url), 'utf8'),
) as readonly Vector[];

describe('the reasoning of a message', () => {
  it.each(VECTORS)('is that of the vectors: $name', ({ message, reasoning }) => {
    expect(reasoningOf(message)).toBe(reasoning);
  });

  it.each(VECTORS.filter(({ reasoning }) => reasoning !== ''))(
    'is recorded from $name, of the OpenAI Agents SDK and of LangChain',
    ({ message: { content, ...others } }) => {
      expect(fromLangChain({ getType: () => 'ai', content, additional_kwargs: others })).toEqual(STORED);
      const output = [{ choices: [{ message: { role: 'assistant', content, ...others } }] }];
      const span = { spanData: { type: 'generation', output } } as unknown as AgentsSpan;
      expect(generationCall(span).output).toEqual(STORED);
    },
  );

  it('is empty where it is encrypted, or nested deeper than any server writes it', () => {
    expect(reasoningOf({ content: [{ type: 'redacted_thinking', data: 'x' }, ANSWER] })).toBe('');
    let deep: unknown = TEXT;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(reasoningOf({ thinking: deep })).toBe('');
  });
});
