export { AnthropicMessages } from './chat/anthropic-messages.js';
export type {
  ChatModel,
  ChatReply,
  ChatRequest,
  ChatTool,
  CalledTool,
  ChatUsage,
  TextMessage,
} from './chat/chat-model.js';
export { OpenAiChat } from './chat/openai-chat.js';
export { EndpointError, type EndpointErrorCode } from './endpoint-error.js';
export type { PaceOptions } from './http/pace.js';
export { ServiceClient, type ServiceOptions, type ServiceRequest } from './http/service-client.js';
export { findLogprobMode } from './generation/logprob-mode.js';
export { describeTokenizer, type ServedTokenizer } from './generation/served-tokenizer.js';
export { describeVllmModel, type ServedModel } from './generation/vllm-models.js';
export type {
  GeneratedTokens,
  GenerationRequest,
  LikeliestRequest,
  LogprobMode,
  ScoreRequest,
  VersionSpan,
} from '@retrace/chat';
export type { EngineOptions, TokenEngine } from './generation/token-engine.js';
export { openTokenEngine, openWeightDelivery } from './servers/token-servers.js';
export { VllmAdapters } from './weights/vllm-adapters.js';
export type { ConfirmedWeights, WeightDelivery, DeliveredWeights } from './weights/weight-delivery.js';
