export { ComputeError, type ComputeErrorCode, type ComputeErrorOptions } from './backend/compute-error.js';
export { PolicyError } from './policy-error.js';
export type { PolicyErrorCode, PolicyErrorOptions } from './policy-error.js';
export { orderOfChoice } from './backend/backend.js';
export type { Backend, BackendName } from './backend/backend.js';
export { countTensors } from './backend/count-tensors.js';
export { openBackend } from './backend/open-backend.js';
export { multipliesInFloat32, type MatrixProducts } from './backend/matrix-products.js';
export type { OpenBackendOptions } from './backend/open-backend.js';
export { installBackend } from './backend/installer/install-backend.js';
export type { InstallOptions } from './backend/installer/install-backend.js';
export type { InstallProgress, InstallStage, OnInstallProgress } from './backend/installer/progress.js';
export { usableProcessors } from './backend/installer/processor.js';
export type { Processor } from './backend/installer/processor.js';
export { removeBackend } from './backend/installer/remove-backend.js';
export type { RemoveBackendOptions } from './backend/installer/remove-backend.js';
export {
  chosenTensorflowVersion,
  parseTensorflowVersion,
  tensorflowVersions,
} from './backend/installer/tensorflow-version.js';
export type { TensorflowVersion } from './backend/installer/tensorflow-version.js';
export { ensureBackend } from './backend/ensure-backend.js';
export type { EnsuredBackend } from './backend/ensure-backend.js';
export { listBackends } from './backend/list-backends.js';
export type { BackendStatus, InstallationStatus, ListBackendsOptions } from './backend/list-backends.js';
export { benchBackend } from './backend/bench-backend.js';
export type { BackendBench, BenchBackendOptions } from './backend/bench-backend.js';
export { validateTransformerConfig } from './model/transformer-config.js';
export type { TransformerConfig } from './model/transformer-config.js';
export { Transformer } from './model/transformer.js';
export type { NamedTensor, NamedTensors } from './model/named-tensors.js';
export type { SequenceBatch } from './packing/sequence-batch.js';
export { scoreTokens } from './scoring/score-tokens.js';
export type { ScoreOptions, TokenScores } from './scoring/score-tokens.js';
export { valuesAtEnd } from './scoring/values-at-end.js';
export { validateLossOptions } from './losses/loss-options.js';
export type { LossOptions } from './losses/loss-options.js';
export type { LossTerms } from './losses/loss-terms.js';
export type { TrainingBatch } from './losses/training-batch.js';
export { PolicyOptimizer } from './optimizer/policy-optimizer.js';
export type { ApplyOptions } from './optimizer/policy-optimizer.js';
export type { AdamWOptions, AdamWState } from './optimizer/adamw.js';
export {
  countParameters,
  estimateGenerationMemory,
  estimateTrainingMemory,
} from './memory/estimate-memory.js';
export type {
  GenerationShape,
  MemoryEstimate,
  MemoryPart,
  PassShape,
  TrainingShape,
} from './memory/estimate-memory.js';
export { ShardedOptimizer } from './data-parallel/sharded-optimizer.js';
export type {
  GradientStep,
  GradientWorkers,
  ShardGradient,
  ShardJob,
} from './data-parallel/sharded-optimizer.js';
export { assignTrainedWeights } from './data-parallel/trained-weights.js';
export { visibleGpus } from './backend/gpu.js';
export { Generator } from './generation/generator.js';
export type { GeneratorOptions } from './generation/generator-options.js';
export type { Decode, FinishedTurn, TurnRequest } from './generation/turn.js';
export { decodeSafetensors, encodeSafetensors } from './checkpoints/safetensors.js';
export type { SafetensorsMetadata } from './checkpoints/safetensors-header.js';
export { CheckpointFiles } from './checkpoints/checkpoint-files.js';
export type { FileRef } from './checkpoints/checkpoint-files.js';
export type { DecodeOptions, Tokenizer, TokenizerJson } from './tokenizers/tokenizer.js';
export { buildWordTokenizer } from './tokenizers/word-tokenizer.js';
export { byteLevelTokenizer } from './tokenizers/byte-tokenizer.js';
export { loadTokenizer } from './tokenizers/load-tokenizer.js';
export type { SpecialTokens } from './tokenizers/hugging-face-tokenizer.js';
export { encodePlain } from './tokenizers/plain-text.js';
export { createTokenizer } from './tokenizers/create-tokenizer.js';
export { parseHuggingFaceConfig } from './hugging-face/model-config.js';
export type { HuggingFaceModelOptions } from './hugging-face/model-config.js';
export { loadHuggingFaceModel } from './hugging-face/load-model.js';
export type { LoadModelOptions } from './hugging-face/load-model.js';
export { saveHuggingFaceModel } from './hugging-face/save-model.js';
export type { SaveModelOptions } from './hugging-face/save-model.js';
export { readAdapter, saveAdapter } from './hugging-face/adapter-files.js';
export type { Adapter } from './hugging-face/adapter-files.js';
export { loadPolicyText, openPolicyText, plainPolicyText } from './hugging-face/policy-text.js';
export type { LoadTextOptions, OpenTextOptions, PolicyText } from './hugging-face/policy-text.js';
export type { PromptFormat } from './tokenizers/prompt-format.js';
export { ChatTemplate } from './tokenizers/chat-template.js';
export type { ChatMessage } from './tokenizers/chat-template.js';
export { loraTargets } from './model/lora-config.js';
export type { LoraConfig, LoraTarget } from './model/lora-config.js';
export type { RopeScaling } from './model/rope-scaling.js';
export { modelFingerprint } from './hugging-face/model-fingerprint.js';
export {
  loadPolicyCheckpoint,
  openPolicyCheckpoint,
  policyCheckpointContent,
} from './hugging-face/policy-checkpoint.js';
export type { BaseModel, PolicyCheckpointOptions } from './hugging-face/policy-checkpoint.js';
export { listTensorPolicyLosses, tensorPolicyLoss } from './losses/tensor/tensor-policy-loss.js';
export type { TensorLossInput } from './losses/tensor/tensor-loss.js';
export { tensorEntropy, tensorKl, tensorValueLoss } from './losses/tensor/tensor-regularizers.js';
export type { TensorValueLossInput } from './losses/tensor/tensor-regularizers.js';
