import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../tokenizers/chat-template.js';
import { ChatTemplate } from '../tokenizers/chat-template.js';
import { temporaryDirectory } from '@retrace/compute/testing';
import { loadPolicyText, openPolicyText } from './policy-text.js';

interface ChatGolden {
  readonly texts: readonly { readonly text: string; readonly ids: number[]; readonly decoded: string }[];
  readonly chats: readonly {
    readonly messages: readonly ChatMessage[];
    readonly addGenerationPrompt: boolean;
    readonly text: string;
    readonly ids: number[];
  }[];
}

const directory = fileURLToPath(new URL('../../../../test/golden/policy/chat', import.meta.url));
const golden = JSON.parse(await readFile(join(directory, 'golden.json'), 'utf8')) as ChatGolden;
const templateText = await readFile(join(directory, 'chat_template.jinja'), 'utf8');

async function edited(file: string, edit: (json: Record<string, unknown>) => void): Promise<string> {
  const copy = join(await temporaryDirectory(), 'chat');
  await cp(directory, copy, { recursive: true });
  const json = JSON.parse(await readFile(join(copy, file), 'utf8')) as Record<string, unknown>;
  edit(json);
  await writeFile(join(copy, file), JSON.stringify(json));
  return copy;
}

describe('The text side of a directory', () => {
  it('tokenizes as transformers does', async () => {
    const { tokenizer } = await loadPolicyText(directory);
    for (const { text, ids, decoded } of golden.texts) {
      expect([...tokenizer.encode(text)]).toEqual(ids);
      expect(tokenizer.decode(ids)).toBe(decoded);
    }
  });

  it('reads ids of the model that have no token as no text, and refuses those beyond', async () => {
    const { tokenizer } = await loadPolicyText(directory);
    const [id] = tokenizer.encode('a');
    expect(tokenizer.vocabSize).toBe(320);
    expect(tokenizer.decode([319, id, 310])).toBe('a');
    expect(() => tokenizer.decode([320])).toThrow(/token id is 320; ids are 0 … 319/);
  });

  it('writes conversations as transformers does', async () => {
    const { tokenizer } = await loadPolicyText(directory);
    const template = new ChatTemplate(templateText, {}, 'chat_template.jinja');
    for (const { messages, addGenerationPrompt, text, ids } of golden.chats) {
      expect(template.render(messages, { addGenerationPrompt }).text).toBe(text);
      expect([...tokenizer.encode(text)]).toEqual(ids);
    }
  });

  it('stops at the ids of its files, its own first', async () => {
    const { tokenizer, stopTokenIds } = await loadPolicyText(directory);
    expect(tokenizer.decode([stopTokenIds[0]])).toBe('<|im_end|>');
    expect(stopTokenIds.map((id) => tokenizer.decode([id]))).toEqual(['<|im_end|>', '<|endoftext|>']);
  });

  it('continues a conversation without tokenizing earlier turns again', async () => {
    const { tokenizer, prompts, stopTokenIds } = await loadPolicyText(directory);
    const opening = prompts.opening('one');
    const template = new ChatTemplate(templateText, {}, 'chat_template.jinja');
    const { text: whole } = template.render(
      [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'left' },
        { role: 'user', content: 'two' },
      ],
      { addGenerationPrompt: true },
    );
    const spoken = tokenizer.encode('left');
    const closed = [...opening, ...spoken, stopTokenIds[0], ...prompts.continuation('two', true)];
    const cut = [...opening, ...spoken, ...prompts.continuation('two', false)];
    expect(tokenizer.decode(closed)).toBe(whole);
    expect(cut).toEqual(closed);
  });

  it('writes plain prompts without a template, or if asked to', async () => {
    const { tokenizer, prompts, stopTokenIds } = await loadPolicyText(directory, { useChatTemplate: false });
    const expected = [...tokenizer.encode('one'), stopTokenIds[0]];
    expect([...prompts.opening('one')]).toEqual(expected);
    expect([...prompts.continuation('one', true)]).toEqual(expected);
    const words = await openPolicyText({ tokenizer: 'word', words: ['one'], directory: undefined });
    expect([...words.prompts.opening('one')]).toEqual([2, words.tokenizer.endOfTurnTokenId]);
  });

  it('finds a template in the tokenizer’s config', async () => {
    const copy = await edited('tokenizer_config.json', (json) => {
      json.chat_template = [
        { name: 'tool_use', template: 'x' },
        { name: 'default', template: '{{ eos_token }}{{ messages[0].content }}' },
      ];
    });
    await rm(join(copy, 'chat_template.jinja'));
    const { tokenizer, prompts } = await loadPolicyText(copy);
    expect(tokenizer.decode(prompts.opening('one'))).toBe('<|im_end|>one');
  });

  it.each<[string, string, (json: Record<string, unknown>) => void, RegExp]>([
    [
      'a model with fewer ids than the tokenizer',
      'config.json',
      (json) => (json.vocab_size = 300),
      /tokenizer.json has ids up to \d+; the vocab_size of the model is 300/,
    ],
    [
      'an end of turn that the model lacks',
      'generation_config.json',
      (json) => (json.eos_token_id = [320]),
      /generation_config.json has eos_token_id \[320\]; it must be ids of 0 … 319/,
    ],
    [
      'an end of turn that the tokenizer lacks',
      'tokenizer_config.json',
      (json) => (json.eos_token = '</s>'),
      /has no token "<\/s>"/,
    ],
    [
      'no end of turn',
      'tokenizer_config.json',
      (json) => delete json.eos_token,
      /eos_token null; it is required/,
    ],
    ['a tokenizer that is none', 'tokenizer.json', (json) => delete json.model, /lacks model.type/],
  ])('refuses %s', async (_, file, edit, message) => {
    await expect(loadPolicyText(await edited(file, edit))).rejects.toThrow(message);
  });

  it('refuses a template that is none, and one that fails', async () => {
    const copy = await edited('config.json', () => undefined);
    await writeFile(join(copy, 'chat_template.jinja'), '{% for %}');
    await expect(loadPolicyText(copy)).rejects.toMatchObject({ code: 'INVALID_FILE' });
    await writeFile(join(copy, 'chat_template.jinja'), "{{ raise_exception('no such turn') }}");
    const { prompts } = await loadPolicyText(copy);
    expect(() => prompts.opening('one')).toThrow(
      /chat_template.jinja: the chat template failed: no such turn/,
    );
  });
});
