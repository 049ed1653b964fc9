import type { ChatMessage, JsonObject, JsonValue } from '@retrace/client';
import { chatMessage } from '@retrace/client/messages';
import { openChoicesCall } from './choices-call.js';
import { errorOfAnswer } from '../calls/answer.js';
import type { Protocol } from '../calls/protocol.js';
import { asText } from '../json/json-fields.js';

/**
 * Reads OpenAI's older completions (https://platform.openai.com/docs/api-reference/completions), with vLLM's and SGLang's fields. The
 * prompt is one message of role `user`; a prompt of token ids has no text.
 */
export const COMPLETIONS: Protocol = {
  name: 'completions',
  open(asked, defaults) {
    const [text] = [asked.prompt].flat() as (JsonValue | undefined)[];
    const prompt = chatMessage({ role: 'user', content: asText(text) });
    const isEchoed = asked.echo === true;
    return openChoicesCall(
      { asked, prompt: [prompt], defaults },
      {
        tools: null,
        outputOf: (choice) => readOutput(choice, isEchoed ? prompt : null),
        unreadableField: (choice) => (typeof choice.text === 'string' ? undefined : 'text'),
        errorOf: errorOfAnswer,
        comparesCounts: !isEchoed,
      },
    );
  },
};

/** Whether a request has several prompts, whose answers are several conversations: such a call is not recorded. */
export function hasSeveralPrompts({ prompt }: JsonObject): boolean {
  return Array.isArray(prompt) && prompt.length > 1 && typeof prompt[0] !== 'number';
}

/** @param echoed the prompt, where the answer begins with it */
function readOutput({ text }: JsonObject, echoed: ChatMessage | null): ChatMessage {
  const answered = asText(text) ?? '';
  const content = echoed?.content;
  const isEcho = typeof content === 'string' && answered.startsWith(content);
  return chatMessage({ role: 'assistant', content: isEcho ? answered.slice(content.length) : answered });
}
