export { type BackendName, ORDER_OF_CHOICE } from './backend/backend.js';
export { type BackendBench, benchBackend } from './bench-backend.js';
export { ComputeError, type ComputeErrorCode } from './backend/compute-error.js';
export { readComputeEnvironment } from './backend/compute-environment.js';
export { countTensors } from './backend/count-tensors.js';
export { ensureBackend } from './backend/ensure-backend.js';
export { installBackend } from './backend/installer/install-backend.js';
export { installWebGpu } from './backend/installer/webgpu/install-webgpu.js';
export { usableProcessors } from './backend/installer/build/processor.js';
export type { OnInstallProgress } from './backend/installer/progress.js';
export { removeBackend } from './backend/installer/remove-backend.js';
export {
  parseTensorflowVersion,
  TENSORFLOW_VERSIONS,
} from './backend/installer/wheels/tensorflow-version.js';
export { type InstallationStatus, listBackends } from './backend/list-backends.js';
export { multipliesInFloat32 } from './backend/node-addon.js';
export { backendObstacle, openBackend, openedBackend } from './backend/open-backend.js';
export { readsSynchronously } from './backend/webgpu.js';
export { adamWStep } from './ops/optimizer/adamw-step.js';
export { fusedAttention, fusesAttention } from './ops/layers/attention.js';
export { freeze, isFrozen } from './ops/gradients/frozen.js';
export { linear } from './ops/products/linear.js';
export { logSoftmax } from './ops/distribution/log-softmax.js';
export { lookup } from './ops/products/lookup.js';
export { matMul } from './ops/products/mat-mul.js';
export { enableNativeOps, hasNativeOps, nativeOp } from './ops/kernels/native-op.js';
export { normHeads } from './ops/layers/norm-heads.js';
export { recomputed } from './ops/gradients/recomputed.js';
export { applyNormWeight, rmsNorm } from './ops/layers/rms-norm.js';
export { rotatePairs } from './ops/layers/rotate-pairs.js';
export { type RowProductOptions, RowProducts } from './ops/products/row-product.js';
export { sampleCategorical } from './ops/distribution/sample-categorical.js';
export { squaredNorm } from './ops/optimizer/squared-norm.js';
export { makeConstant, stopGradient } from './ops/gradients/stop-gradient.js';
export { swiGlu } from './ops/layers/swi-glu.js';
export {
  targetStatistics,
  targetStatisticsGradient,
  type ChosenIds,
} from './ops/distribution/target-statistics.js';
export { type Backward, withGradient } from './ops/gradients/with-gradient.js';
