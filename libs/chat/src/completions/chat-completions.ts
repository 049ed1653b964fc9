import { isJsonObject } from '@retrace/trajectory/json';
import { messageOf, unreadableMessageField } from './chat-message-fields.js';
import { openChoicesCall } from './choices-call.js';
import { errorInStream, errorOfAnswer } from '../calls/answer.js';
import type { Protocol } from '../calls/protocol.js';
import { listedObjects, objectOf, objectsOf } from '../json/json-fields.js';

/** Reads OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat), with vLLM's and SGLang's fields. */
export const CHAT_COMPLETIONS: Protocol = {
  name: 'chat-completions',
  open(asked, defaults) {
    const prompt = objectsOf(asked.messages).map(messageOf);
    return openChoicesCall(
      { asked, prompt, defaults },
      {
        tools: listedObjects(asked.tools),
        outputOf: ({ message }) => messageOf(objectOf(message)),
        unreadableField: ({ message }) =>
          isJsonObject(message) ? unreadableMessageField(message) : 'message',
        errorOf: (status, body) => errorOfAnswer(status, body) ?? errorInStream(status, body),
        comparesCounts: true,
      },
    );
  },
};
