/** Messages of model APIs as Retrace stores them, for programs that record calls of models themselves, as a proxy does. */
export { anthropicAnswer, anthropicMessages, isAnthropicMessage } from './anthropic-messages.js';
export {
  chatMessage,
  contentOf,
  imagePart,
  jsonText,
  leftOut,
  resultText,
  toolCall,
} from './chat-message.js';
export { isReasoningPart, REASONING_FIELDS, reasoningOf } from './reasoning.js';
export { messagesOfItems, outputOfItems, partsOf, type ResponsesItem } from './responses-messages.js';
