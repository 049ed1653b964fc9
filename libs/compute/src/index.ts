export { type Backend, type BackendName, ORDER_OF_CHOICE } from './backend/backend.js';
export { type BackendBench, benchBackend, type BenchBackendOptions } from './backend/bench-backend.js';
export { ComputeError, type ComputeErrorCode, type ComputeErrorOptions } from './backend/compute-error.js';
export { countTensors } from './backend/count-tensors.js';
export { ensureBackend, type EnsuredBackend } from './backend/ensure-backend.js';
export { visibleGpus } from './backend/gpu.js';
export { installBackend, type InstallOptions } from './backend/installer/install-backend.js';
export { installWebGpu } from './backend/installer/install-webgpu.js';
export { type Processor, usableProcessors } from './backend/installer/processor.js';
export type { InstallProgress, InstallStage, OnInstallProgress } from './backend/installer/progress.js';
export { removeBackend, type RemoveBackendOptions } from './backend/installer/remove-backend.js';
export {
  chosenTensorflowVersion,
  parseTensorflowVersion,
  type TensorflowVersion,
  TENSORFLOW_VERSIONS,
} from './backend/installer/tensorflow-version.js';
export {
  type BackendStatus,
  type InstallationStatus,
  listBackends,
  type ListBackendsOptions,
} from './backend/list-backends.js';
export { type MatrixProducts, multipliesInFloat32 } from './backend/matrix-products.js';
export { openBackend, type OpenBackendOptions } from './backend/open-backend.js';
export { readsSynchronously } from './backend/webgpu.js';
export { adamWStep } from './ops/adamw-step.js';
export { fusedAttention, fusesAttention } from './ops/attention.js';
export { freeze, isFrozen } from './ops/frozen.js';
export { linear } from './ops/linear.js';
export { logSoftmax } from './ops/log-softmax.js';
export { lookup } from './ops/lookup.js';
export { matMul } from './ops/mat-mul.js';
export { enableNativeOps, hasNativeOps, nativeOp } from './ops/native-op.js';
export { normHeads } from './ops/norm-heads.js';
export { recomputed } from './ops/recomputed.js';
export { applyNormWeight, rmsNorm } from './ops/rms-norm.js';
export { rotatePairs } from './ops/rotate-pairs.js';
export { type RowProductOptions, RowProducts } from './ops/row-product.js';
export { sampleCategorical } from './ops/sample-categorical.js';
export { squaredNorm } from './ops/squared-norm.js';
export { constantOf, stopGradient } from './ops/stop-gradient.js';
export { swiGlu } from './ops/swi-glu.js';
export { targetStatistics, targetStatisticsGradient } from './ops/target-statistics.js';
export { type Backward, withGradient } from './ops/with-gradient.js';
