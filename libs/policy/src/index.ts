export { CheckpointFiles, type FileRef } from './checkpoints/checkpoint-files.js';
export type { SafetensorsMetadata } from './checkpoints/safetensors-header.js';
export { decodeSafetensors, encodeSafetensors } from './checkpoints/safetensors.js';
export {
  type GradientStep,
  type GradientWorkers,
  ShardedOptimizer,
  type ShardGradient,
  type ShardJob,
} from './data-parallel/sharded-optimizer.js';
export { assignTrainedWeights } from './data-parallel/trained-weights.js';
export type { GeneratorOptions } from './generation/generator-options.js';
export { Generator } from './generation/generator.js';
export type { Decode, FinishedTurn, TurnRequest } from './generation/turn.js';
export { type Adapter, readAdapter, saveAdapter } from './hugging-face/adapter-files.js';
export { loadHuggingFaceModel, type LoadModelOptions } from './hugging-face/load-model.js';
export { type HuggingFaceModelOptions, parseHuggingFaceConfig } from './hugging-face/model-config.js';
export { modelFingerprint } from './hugging-face/model-fingerprint.js';
export {
  type BaseModel,
  loadPolicyCheckpoint,
  openPolicyCheckpoint,
  policyCheckpointContent,
  type PolicyCheckpointOptions,
} from './hugging-face/policy-checkpoint.js';
export {
  loadPolicyText,
  type LoadTextOptions,
  openPolicyText,
  type OpenTextOptions,
  plainPolicyText,
  type PolicyText,
} from './hugging-face/policy-text.js';
export { saveHuggingFaceModel, type SaveModelOptions } from './hugging-face/save-model.js';
export { type LossOptions, validateLossOptions } from './losses/loss-options.js';
export { averageTerms, type LossTerms, type LossTermValues } from './losses/loss-terms.js';
export { type LossColumns, mapLossColumns, type TrainingBatch } from './losses/training-batch.js';
export {
  countParameters,
  estimateGenerationMemory,
  estimateTrainingMemory,
  type GenerationShape,
  type MemoryEstimate,
  type MemoryPart,
  type PassShape,
  type TrainingShape,
} from './memory/estimate-memory.js';
export { type LoraConfig, type LoraTarget, LORA_TARGETS } from './model/lora-config.js';
export type { NamedTensor, NamedTensors } from './model/named-tensors.js';
export type { RopeScaling } from './model/rope-scaling.js';
export { type TransformerConfig, validateTransformerConfig } from './model/transformer-config.js';
export { Transformer } from './model/transformer.js';
export type { AdamWOptions, AdamWState } from './optimizer/adamw.js';
export { type ApplyOptions, PolicyOptimizer } from './optimizer/policy-optimizer.js';
export type { SequenceBatch } from './packing/sequence-batch.js';
export { PolicyError, type PolicyErrorCode, type PolicyErrorOptions } from './policy-error.js';
export {
  type EvaluateLogprobsOptions,
  evaluateLogprobs,
  type TokenLogprobs,
} from './logprobs/evaluate-logprobs.js';
export { valuesAtEnd } from './logprobs/values-at-end.js';
export { byteLevelTokenizer } from './tokenizers/byte-tokenizer.js';
export { type ChatMessage, ChatTemplate } from './tokenizers/chat-template.js';
export { createTokenizer } from './tokenizers/create-tokenizer.js';
export type { SpecialTokens } from './tokenizers/hugging-face-tokenizer.js';
export { loadTokenizer } from './tokenizers/load-tokenizer.js';
export { encodePlain } from './tokenizers/plain-text.js';
export type { PromptFormat } from './tokenizers/prompt-format.js';
export type { DecodeOptions, Tokenizer, TokenizerJson } from './tokenizers/tokenizer.js';
export { buildWordTokenizer } from './tokenizers/word-tokenizer.js';
