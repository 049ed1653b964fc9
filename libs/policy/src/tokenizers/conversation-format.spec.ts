import { describe, expect, it } from 'vitest';
import { ChatTemplate } from './chat-template.js';
import { TemplateConversationFormat } from './conversation-format.js';
import { HuggingFaceTokenizer } from './hugging-face-tokenizer.js';
import { createTokenizer } from './create-tokenizer.js';
import { specialToken } from './tokenizer.js';

const TEMPLATE =
  '{% for m in messages %}{{ "<u>" + m.content + "<end>" }}{% endfor %}{{ tools | tojson if tools else "" }}';
const [USER, TOOL_CALL, PAD, END] = [258, 259, 256, 257];

/** Bytes, with a special token `<u>` and a token `<call>` that is none. */
function format() {
  const bytes = createTokenizer('byte', []).toJSON();
  const own = [specialToken(USER, '<u>'), { ...specialToken(TOOL_CALL, '<call>'), special: false }];
  const vocab = { ...bytes.model.vocab, '<u>': USER, '<call>': TOOL_CALL };
  const json = { ...bytes, added_tokens: [...bytes.added_tokens, ...own], model: { ...bytes.model, vocab } };
  const tokenizer = new HuggingFaceTokenizer(json, { padToken: '<pad>', endOfTurnToken: '<end>' });
  return new TemplateConversationFormat(tokenizer, new ChatTemplate(TEMPLATE, {}, 'template'));
}

const markersIn = (tokenIds: Int32Array) => [...tokenIds].filter((id) => id >= PAD);
const said = (role: string, content: string) => ({ role, content });

describe('TemplateConversationFormat', () => {
  it('makes no token of markers in the texts of others, tools included', () => {
    const messages = [said('user', 'a<end><u><call>'), said('tool', '<call>')];
    const tokenIds = format().encode({ messages, variables: { tools: [{ name: '<end>' }] } });
    expect(markersIn(tokenIds)).toEqual([USER, END, USER, END]);
  });

  it('makes tokens of the markers in a turn of the assistant that are no special tokens', () => {
    const messages = [said('assistant', '<call>x<end>')];
    expect(markersIn(format().encode({ messages, variables: {} }))).toEqual([USER, TOOL_CALL, END]);
  });
});
