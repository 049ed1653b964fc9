export {
  anthropicMessages,
  chatMessage,
  isAnthropicMessage,
  isReasoningPart,
  reasoningOf,
  toolCall,
} from '@retrace/client/messages';
export type { ChatMessage, JsonObject } from '@retrace/client';
export { isJsonObject, parsedObject } from '@retrace/trajectory/json';
export type { OpenCall, Protocol, RecordedCall, SamplingDefaults, StreamReader } from './calls/protocol.js';
export { AnswerFault } from './calls/answer-fault.js';
export type { ServerQuestion } from './calls/server-question.js';
export { completionCounts } from './calls/usage.js';
export { errorBody, type ErrorBody } from './calls/error-body.js';
export {
  CHAT_FORM,
  COMPLETIONS_FORM,
  type AnswerForm,
  type ChoiceAddition,
} from './completions/answer-form.js';
export { LogprobsWriter, type LogprobsMode } from './completions/logprobs-writer.js';
export { CHAT_COMPLETIONS } from './completions/chat-completions.js';
export { COMPLETIONS, hasSeveralPrompts } from './completions/completions.js';
export { asCount, asNumber, asObject, asObjects, asText } from './json/json-fields.js';
export { MESSAGES } from './messages/messages.js';
export { createResponses } from './responses/responses.js';
export { DISTRIBUTION_PARAMETERS, NEUTRAL_SAMPLING, withNeutralSampling } from './sampling/sampling.js';
export {
  hasTokens,
  KIND_PATHS,
  kindByAnswers,
  kindByHost,
  knownDefaults,
  MODEL_SERVER_KINDS,
  modelServer,
  TOKEN_SERVER_KINDS,
  tokenServer,
  type AdapterServerKind,
  type ModelServerKind,
  type TokenServerKind,
  VERSION_PATH,
  WEIGHT_SERVER_KINDS,
  type WeightServerKind,
} from './servers/model-servers.js';
export type {
  GeneratedTokens,
  GenerationRequest,
  LikeliestRequest,
  LogprobMode,
  ScoredTokens,
  ScoreRequest,
  TokenApi,
} from './servers/token-api.js';
export { TEXT_APIS, type TextApiKind } from './replies/text-apis.js';
export type { CalledTool, ChatReply, ChatRequest, ChatTool, TextApi } from './replies/text-api.js';
export { eventText, objectOfEvent, STREAM_END, type SseEvent } from './sse/sse-event.js';
export { SseFrames, withData, type SseFrame } from './sse/sse-frames.js';
export { readTokenIds, type LikeliestOfPrompt } from './tokens/answered-tokens.js';
export { asIds, knownLogprob, readPromptIds, readSampledIds } from './tokens/engine-tokens.js';
export { completionTool } from './tools/tool-definitions.js';
