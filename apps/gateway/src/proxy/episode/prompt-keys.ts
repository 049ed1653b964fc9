import { hash } from 'node:crypto';
import type { ChatMessage } from '@retrace/client';
import { jsonText } from '@retrace/client/messages';

/** A place in a conversation: how long it is, in messages or characters, and a hash of all of it up to there. */
export interface Place {
  readonly length: number;
  readonly key: string;
}

const KEY_CHARACTERS = 22;
const THINKING = /^\s*<think>[\s\S]*?<\/think>/;

/**
 * Hashes of every beginning of a prompt, by which a later prompt is recognized as its continuation: two conversations have the same key
 * exactly where they say the same so far.
 */
export interface PromptKeys {
  readonly length: number;
  /** Key of the messages before the first that is not a system message. */
  readonly system: string;
  /** Key of the first `length` messages, or characters. */
  keyAt(length: number): string;
  /** Lengths at which a known place may be, the longest first. */
  lengths(known: Iterable<number>): readonly number[];
  /** The place after an answer. */
  after(output: ChatMessage): Place;
  /** The messages after the first `length`. */
  since(length: number): readonly ChatMessage[];
}

/** @param isText whether the conversation is one growing text, as with completions */
export function promptKeys(prompt: readonly ChatMessage[], isText: boolean): PromptKeys {
  const content = prompt[0]?.content;
  return isText && typeof content === 'string' ? new TextKeys(content) : new MessageKeys(prompt);
}

class MessageKeys implements PromptKeys {
  readonly system: string;
  private readonly keys: string[] = [''];

  constructor(private readonly prompt: readonly ChatMessage[]) {
    for (const message of prompt) this.keys.push(nextKey(this.keys[this.keys.length - 1], message));
    const first = prompt.findIndex(({ role }) => role !== 'system' && role !== 'developer');
    this.system = this.keys[first < 0 ? prompt.length : first];
  }

  get length(): number {
    return this.prompt.length;
  }

  keyAt(length: number): string {
    return this.keys[length];
  }

  lengths(): readonly number[] {
    return Array.from(this.keys, (_, i) => this.length - i).filter((length) => length > 0);
  }

  after(output: ChatMessage): Place {
    return { length: this.length + 1, key: nextKey(this.keys[this.length], output) };
  }

  since(length: number): readonly ChatMessage[] {
    return this.prompt.slice(length);
  }
}

class TextKeys implements PromptKeys {
  readonly system = '';

  constructor(private readonly text: string) {}

  get length(): number {
    return this.text.length;
  }

  keyAt(length: number): string {
    return textKey(this.text.slice(0, length));
  }

  lengths(known: Iterable<number>): readonly number[] {
    return [...known].filter((length) => length > 0 && length <= this.length).sort((a, b) => b - a);
  }

  after({ content }: ChatMessage): Place {
    const whole = `${this.text}${typeof content === 'string' ? content : ''}`;
    return { length: whole.length, key: textKey(whole) };
  }

  since(length: number): readonly ChatMessage[] {
    return length >= this.length ? [] : [{ role: 'user', content: this.text.slice(length) }];
  }
}

function textKey(text: string): string {
  return hash('sha256', `text/${text}`, 'base64url').slice(0, KEY_CHARACTERS);
}

function nextKey(previous: string, message: ChatMessage): string {
  return hash('sha256', `${previous}/${messageKey(message)}`, 'base64url').slice(0, KEY_CHARACTERS);
}

/**
 * A message without what agents change in their history between two calls: of their own messages that is the name, reasoning, and space
 * around the text.
 */
function messageKey({ role, content, name, tool_calls, tool_call_id }: ChatMessage): string {
  const calls = (tool_calls ?? []).map((call) => [
    call.id,
    call.function.name,
    plainJson(call.function.arguments),
  ]);
  if (role !== 'assistant') return JSON.stringify([role, content, calls, tool_call_id, name]);
  return JSON.stringify([
    role,
    typeof content === 'string' ? content.replace(THINKING, '').trim() : (content ?? ''),
    calls,
  ]);
}

/** JSON without the space between its parts, which some agents change; other text as it is. */
function plainJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Key of the definitions of tools, which are recorded where they change. */
export function toolsKey(tools: unknown): string {
  return hash('sha256', jsonText(tools), 'base64url').slice(0, KEY_CHARACTERS);
}
