import type { ChatMessage } from '@retrace/policy';
import { describe, expect, it } from 'vitest';
import { NO_TURN, type Prompt, type Turn } from '../turn/turn.js';
import { RecordedConversation } from './recorded-conversation.js';

const system: ChatMessage = { role: 'system', content: 'You walk.' };
const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });

/** A prompt of two tokens. */
function promptOf(text: string, keptPrefixTokens = 0): Prompt {
  const observation = { text, anchor: null, legalActions: null };
  return { observation, tokenIds: Int32Array.of(1, 2), keptPrefixTokens };
}

/** A turn of one token. */
const turnOf = (action: string): Turn => ({ ...NO_TURN, action, tokenIds: Int32Array.of(3) });

describe('RecordedConversation', () => {
  it('stores nothing where each prompt is its observation, alone or after all that was said', () => {
    const alone = new RecordedConversation();
    const longer = new RecordedConversation();
    const said = [user('a'), assistant('x'), user('b')];
    expect([
      alone.store({ prompt: promptOf('a'), messages: [user('a')] }, turnOf('x')),
      alone.store({ prompt: promptOf('a'), messages: [user('a')] }, turnOf('x')),
      longer.store({ prompt: promptOf('a'), messages: [user('a')] }, turnOf('x')),
      longer.store({ prompt: promptOf('b', 3), messages: said }, turnOf('y')),
    ]).toEqual(Array.from({ length: 4 }, () => ({ messages: null, marks: {} })));
  });

  it('stores what a prompt of a template added, and how much of what was said it kept', () => {
    const conversation = new RecordedConversation();
    const first = conversation.store(
      { prompt: promptOf('a'), messages: [system, user('You see: a')] },
      turnOf('x'),
    );
    expect(first).toEqual({
      messages: { input: [system, user('You see: a')], output: assistant('x') },
      marks: {},
    });
    const second = conversation.store(
      { prompt: promptOf('b'), messages: [system, user('Before: a, x. You see: b')] },
      turnOf('y'),
    );
    expect(second).toEqual({
      messages: { input: [user('Before: a, x. You see: b')], output: assistant('y') },
      marks: { keptMessages: 1 },
    });
  });

  it('stores an earlier answer again where a prompt shows it without its thought', () => {
    const conversation = new RecordedConversation();
    conversation.store({ prompt: promptOf('a'), messages: [user('a')] }, turnOf('Hm. x'));
    const messages = [user('a'), assistant('x'), user('b')];
    expect(conversation.store({ prompt: promptOf('b', 1), messages }, turnOf('Hm. y'))).toEqual({
      messages: { input: [assistant('x'), user('b')], output: assistant('Hm. y') },
      marks: { keptMessages: 1 },
    });
  });

  it('marks a prompt that kept all messages, of which the template wrote one otherwise', () => {
    const conversation = new RecordedConversation();
    conversation.store({ prompt: promptOf('a'), messages: [user('a')] }, turnOf('x'));
    const messages = [user('a'), assistant('x'), user('b')];
    expect(conversation.store({ prompt: promptOf('b', 2), messages }, turnOf('y'))).toEqual({
      messages: null,
      marks: { keptMessages: 2 },
    });
  });

  it('stores the message of a server as it came, and nothing of a step that no model was asked for', () => {
    const conversation = new RecordedConversation();
    const output = { role: 'assistant', content: '', tool_calls: [{ id: '1' }] };
    const stored = conversation.store(
      { prompt: promptOf('a'), messages: [user('a')] },
      { ...turnOf('call'), output },
    );
    expect(stored).toEqual({ messages: { input: [user('a')], output }, marks: {} });
    expect(conversation.store({ prompt: promptOf('b'), messages: null }, NO_TURN)).toEqual({
      messages: { input: [], output: null },
      marks: {},
    });
  });

  it('says the tools of the chat template once', () => {
    const conversation = new RecordedConversation();
    const tools = [{ type: 'function', function: { name: 'act', parameters: {} } }] as const;
    const shown = { prompt: promptOf('a'), messages: [user('a')], tools };
    expect(conversation.store(shown, turnOf('x')).marks).toEqual({ toolDefinitions: tools });
    expect(conversation.store(shown, turnOf('x')).marks).toEqual({});
  });
});
