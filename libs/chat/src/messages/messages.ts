import type { JsonObject } from '@retrace/client';
import { anthropicAnswer, anthropicMessages } from '@retrace/client/messages';
import { errorInStream, errorOfAnswer, describeWholeness, type EngineAnswer } from '../calls/answer.js';
import { messageUsage } from '../calls/usage.js';
import { hasOnlyObjects, leadingObjects, listedObjects, asText } from '../json/json-fields.js';
import { MessagesReader } from './messages-reader.js';
import type { Protocol, ReadRequest, RecordedCall } from '../calls/protocol.js';
import { sampledFields } from '../sampling/sampling.js';

/** Reads Anthropic's Messages API, https://docs.anthropic.com/en/api/messages. */
export const MESSAGES: Protocol = {
  name: 'messages',
  open(body, defaults) {
    const prompt = anthropicMessages(body);
    const record = (answer: EngineAnswer) => recordedCall({ asked: body, prompt, defaults }, answer);
    return {
      prompt,
      read: (answer) => record({ ...answer, isCut: false }),
      reader: () => new MessagesReader(record),
    };
  },
};

function recordedCall({ asked, prompt, defaults }: ReadRequest, answer: EngineAnswer): RecordedCall {
  const { status, body } = answer;
  const blocks = leadingObjects(body.content);
  const { sampling, statedSampling } = sampledFields(asked, defaults);
  return {
    model: asText(body.model) ?? asText(asked.model),
    prompt,
    tools: listedObjects(asked.tools),
    output: blocks.length > 0 || isAnswered(body) ? anthropicAnswer(blocks) : null,
    otherOutputs: [],
    finishReason: asText(body.stop_reason),
    usage: messageUsage(body.usage),
    sampling,
    ...(statedSampling !== undefined && { statedSampling }),
    tokens: null,
    weightVersion: null,
    responseId: asText(body.id),
    error: errorOfAnswer(status, body) ?? errorInStream(status, body),
    ...describeWholeness(answer, { unreadable: hasOnlyObjects(body.content) ? undefined : 'content' }),
  };
}

/** Whether the model has answered, if only with nothing, as it may after results of tools. */
function isAnswered({ stop_reason }: JsonObject): boolean {
  return typeof stop_reason === 'string';
}
