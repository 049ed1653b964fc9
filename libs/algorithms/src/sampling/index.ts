export { drawImportanceWeights, LEAST_PRIORITY, priorityWeight } from './priorities.js';
export {
  insertBlock,
  leastRatioRoom,
  ratioDifference,
  type RatioCounts,
  sampleBlock,
  type SampleRatio,
} from './sample-ratio.js';
export { SamplingError, type SamplingErrorCode } from './sampling-error.js';
export { divideByShare, type SharedSource } from './shares.js';
export { curriculumWeight, type SuccessCurriculum } from './success-curriculum.js';
export { SumTree } from './sum-tree.js';
export { groupsOfEqualReturns } from './zero-variance.js';
export { drawByWeight, inclusionProbabilities, type WeightedDraw } from './weighted-draw.js';
