import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseJson, type Dict } from '@retrace/jinja';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChatTemplate, type ConversationMessage } from './chat-template.js';

/** Goldens of transformers' `apply_chat_template`: see their generator. */
const folder = new URL('../../../../test/golden/chat-templates/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const goldens = JSON.parse(read('goldens.json')) as {
  readonly texts: Readonly<Record<string, readonly (string | null)[]>>;
};
const conversations = read('conversations.jsonl').trimEnd().split('\n');

const TOKENS = { bos_token: '<BOS>', eos_token: '<EOS>', pad_token: '<PAD>', unk_token: '<UNK>' };

function templateOf(name: string, edit: (source: string) => string = (source) => source): ChatTemplate {
  return new ChatTemplate(edit(read(`templates/${name}.jinja`)), TOKENS, name);
}

function rendered(template: ChatTemplate, line: string): string {
  const row = parseJson(line) as Dict;
  const messages = (row.get('messages') as readonly Dict[]).map((message) =>
    Object.fromEntries(message.entries),
  ) as unknown as readonly ConversationMessage[];
  const { text } = template.render(messages, {
    addGenerationPrompt: row.get('add_generation_prompt') === true,
    variables: {
      tools: row.get('tools'),
      ...Object.fromEntries((row.get('variables') as Dict).entries),
    },
  });
  return text;
}

/** The first digits of the text's digest; null where the template fails. */
function digest(template: ChatTemplate, line: string): string | null {
  try {
    return createHash('sha256').update(rendered(template, line)).digest('hex').slice(0, 12);
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_FILE' });
    return null;
  }
}

describe('ChatTemplate', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date(2026, 10, 7, 9, 5, 3), toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(Object.keys(goldens.texts))(
    'writes conversations with %s as transformers does, and refuses the same',
    (name) => {
      const template = templateOf(name);
      const digests = conversations.map((line) => digest(template, line));
      expect(digests).toEqual(goldens.texts[name]);
    },
  );

  it('reads files with the line ends of Windows as Python does', () => {
    const template = templateOf('qwen3', (source) => source.replaceAll('\n', '\r\n'));
    expect(conversations.map((line) => digest(template, line))).toEqual(goldens.texts.qwen3);
  });

  it('reads thoughts in any of the fields that servers have for them', () => {
    const template = new ChatTemplate(
      '{{ messages[0].reasoning_content }}|{{ messages[0].thinking }}',
      {},
      'file',
    );
    const written = (fields: object) =>
      template.render([{ role: 'assistant', content: '', ...fields }], { addGenerationPrompt: false }).text;
    expect(written({ reasoning: 'a' })).toBe('a|a');
    expect(written({ thinking: 'b' })).toBe('b|b');
    expect(written({ reasoning_content: 'c', thinking: 'd' })).toBe('c|d');
    expect(written({ reasoning_content: null, reasoning: 'e' })).toBe('e|e');
  });

  it('ends a template that takes too long, and names its file', () => {
    const source = '{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}';
    const template = new ChatTemplate(source, {}, 'mine.jinja');
    expect(() => template.render([], { addGenerationPrompt: true })).toThrow(
      /mine.jinja: the chat template failed: it takes more steps/,
    );
  });
});
