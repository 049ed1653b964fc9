import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { looseMessages } from '../spans/loose-messages.js';
import { readChatMessage } from './chat-message.js';

/** Messages and the reasoning that every reader finds in them. */
const VECTORS = new URL('../../../../clients/vectors/reasoning.json', import.meta.url);

describe('the reasoning of a message', () => {
  const TEXT = 'two and two';
  const ANSWER = { type: 'text', text: '4' };

  it.each(
    JSON.parse(readFileSync(VECTORS, 'utf8')) as { name: string; message: object; reasoning: string }[],
  )('is that of the vectors: $name', ({ message, reasoning }) => {
    expect(readChatMessage({ role: 'assistant', ...message }, 'message').reasoning_content ?? '').toBe(
      reasoning,
    );
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['reasoning_content', { reasoning_content: TEXT, content: '4' }],
    ['reasoning', { reasoning: TEXT, content: '4' }],
    ['reasoning beside an empty reasoning_content', { reasoning_content: '', reasoning: TEXT, content: '4' }],
    ['thinking', { thinking: TEXT, content: '4' }],
    ['reasoning_details', { content: '4', reasoning_details: [{ type: 'reasoning.text', text: TEXT }] }],
    ['a part of type thinking', { content: [{ type: 'thinking', thinking: TEXT, signature: 's' }, ANSWER] }],
    ['a part of type reasoning', { content: [{ type: 'reasoning', text: TEXT }, ANSWER] }],
  ])('is imported from %s, of chats and of traces', (_, fields) => {
    const message = { role: 'assistant', ...fields };
    // Chats keep their parts, traces join them.
    const content = Array.isArray(fields.content) ? [ANSWER] : '4';
    const imported = { role: 'assistant', content, reasoning_content: TEXT };
    expect(readChatMessage(message, 'message')).toEqual(imported);
    expect(looseMessages([message])).toEqual([{ ...imported, content: '4' }]);
  });

  it('may be all of the answer', () => {
    const message = { role: 'assistant', content: [{ type: 'thinking', thinking: TEXT }] };
    expect(readChatMessage(message, 'message')).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: TEXT,
    });
  });

  it('stays a part of the content where it is encrypted, or another than that of the field', () => {
    const content = [
      { type: 'redacted_thinking', data: 'x' },
      { type: 'thinking', thinking: 'else' },
      ANSWER,
    ];
    const message = { role: 'assistant', reasoning: TEXT, content };
    expect(readChatMessage(message, 'message')).toEqual({
      role: 'assistant',
      reasoning_content: TEXT,
      content,
    });
  });
});
