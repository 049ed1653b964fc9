export type { Protocol } from './protocol/protocol.js';
export { CHAT_COMPLETIONS } from './protocol/chat-completions.js';
export { COMPLETIONS } from './protocol/completions.js';
export { createResponses } from './protocol/responses.js';
export { MESSAGES } from './protocol/messages.js';
