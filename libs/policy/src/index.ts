export { type AdoptedFile, CheckpointFiles, type WrittenFile } from './checkpoints/checkpoint-files.js';
export type { FileRef } from './checkpoints/file-ref.js';
export { shardIndexContent } from './checkpoints/shards.js';
export { nameContent } from './checkpoints/write-synced.js';
export { type HeldState, heldStateContent, readHeldState } from './checkpoints/held-state.js';
export { SafetensorsFile } from './checkpoints/safetensors-file.js';
export {
  checkpointsAt,
  type CheckpointLocation,
  type CheckpointStorage,
} from './checkpoints/remote/checkpoints-at.js';
export {
  type GradientStep,
  type GradientWorkers,
  ShardedOptimizer,
  type ShardGradient,
  type ShardJob,
} from './data-parallel/sharded-optimizer.js';
export { assignTrainedWeights } from './data-parallel/trained-weights.js';
export { Generator } from './generation/generator.js';
export type { FinishedTurn, LikelyToken, TurnColumns, TurnRequest } from './generation/turn.js';
export { saveAdapter } from './hugging-face/adapter-files.js';
export { readLoraConfig } from './hugging-face/adapter-files.js';
export { loadHuggingFaceModel } from './hugging-face/load-model.js';
export { type HuggingFaceModelOptions, parseHuggingFaceConfig } from './hugging-face/model-config.js';
export { modelFingerprint } from './hugging-face/model-fingerprint.js';
export {
  adapterCheckpointContent,
  type BaseModel,
  loadPolicyCheckpoint,
  openPolicyCheckpoint,
  policyCheckpointContent,
  policyCheckpointMetadata,
  policyTokenizerHash,
  startFromCheckpoint,
} from './hugging-face/policy-checkpoint.js';
export { OfferFile, WatchedOffers } from './hugging-face/offer-file.js';
export { OfferedPolicy } from './hugging-face/offered-policy.js';
export { PolicyOffers } from './hugging-face/policy-offers.js';
export { PolicySource } from './hugging-face/policy-source.js';
export {
  loadPolicyText,
  openPolicyText,
  plainPolicyText,
  type PolicyText,
} from './hugging-face/policy-text.js';
export { saveHuggingFaceModel } from './hugging-face/save-model.js';
export {
  accumulateLoss,
  cutMicroBatches,
  type MicroBatch,
  type OutputGradients,
  type PassOptions,
  type TokenPasses,
} from './losses/accumulate-loss.js';
export { type TokenColumns } from './losses/evaluate-loss.js';
export { type LossOptions, type TrainedPart } from './losses/loss-options.js';
export { averageTerms, type LossTerms, type LossTermValues } from './losses/loss-terms.js';
export type { DistillationTerm } from './losses/distillation-term.js';
export { type TokenFigures } from './losses/token-figures.js';
export { type LossColumns, mapLossColumns, type TrainingBatch } from './losses/training-batch.js';
export {
  countParameters,
  estimateGenerationMemory,
  estimateTrainingMemory,
  type MemoryEstimate,
} from './memory/estimate-memory.js';
export { LORA_TARGETS } from './model/lora-config.js';
export type { NamedTensors } from './parameters/named-tensors.js';
export { type TransformerConfig } from './model/transformer-config.js';
export { Transformer } from './model/transformer.js';
export { type AppliedGradients, type ApplyOptions, PolicyOptimizer } from './optimizer/policy-optimizer.js';
export { WeightAverage } from './optimizer/weight-average.js';
export type { SequenceBatch } from './packing/sequence-batch.js';
export { isUnreadable, PolicyError, type PolicyErrorCode } from './policy-error.js';
export { evaluateLogprobs } from './logprobs/evaluate-logprobs.js';
export { selectTeacherTop, type TeacherTop } from './logprobs/teacher-top.js';
export { valuesAtEnd } from './logprobs/values-at-end.js';
export type { ChatMessage, ConversationMessage, TemplateTool } from './tokenizers/chat-template.js';
export { createTokenizer } from './tokenizers/create-tokenizer.js';
export { encodePlain } from './tokenizers/plain-text.js';
export type { PromptFormat } from './tokenizers/prompt-format.js';
export type { Tokenizer, TokenizerJson } from './tokenizers/tokenizer.js';
export { buildWordTokenizer } from './tokenizers/word-tokenizer.js';
