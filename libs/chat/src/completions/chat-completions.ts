import { isJsonObject } from '@retrace/trajectory/json';
import { readMessage, unreadableMessageField } from './chat-message-fields.js';
import { openChoicesCall } from './choices-call.js';
import { errorInStream, errorOfAnswer } from '../calls/answer.js';
import type { Protocol } from '../calls/protocol.js';
import { listedObjects, asObject, asObjects } from '../json/json-fields.js';

/** Reads OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat), with vLLM's and SGLang's fields. */
export const CHAT_COMPLETIONS: Protocol = {
  name: 'chat-completions',
  open(asked, defaults) {
    const prompt = asObjects(asked.messages).map(readMessage);
    return openChoicesCall(
      { asked, prompt, defaults },
      {
        tools: listedObjects(asked.tools),
        outputOf: ({ message }) => readMessage(asObject(message)),
        unreadableField: ({ message }) =>
          isJsonObject(message) ? unreadableMessageField(message) : 'message',
        errorOf: (status, body) => errorOfAnswer(status, body) ?? errorInStream(status, body),
        comparesCounts: true,
      },
    );
  },
};
