/** Messages of model APIs as Retrace stores them, for programs that record calls of models themselves, as a proxy does. */
export { anthropicAnswer, anthropicMessages, isAnthropicMessage } from './anthropic-messages.js';
export {
  chatMessage,
  toContent,
  imagePart,
  jsonText,
  leftOut,
  resultText,
  toolCall,
} from './chat-message.js';
export { isReasoningPart, REASONING_FIELDS, extractReasoning } from './reasoning.js';
export { messagesOfItems, outputOfItems, readParts, type ResponsesItem } from './responses-messages.js';
