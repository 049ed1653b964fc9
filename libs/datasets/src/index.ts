export { DatasetError, type DatasetErrorCode } from './dataset-error.js';
export { DatasetDirectory } from './dataset-directory.js';
export { registerDataset, type RegisterDatasetOptions } from './register-dataset.js';
export { createDataset, type CreateDatasetOptions } from './create-dataset.js';
export {
  checkTrainingSet,
  createTrainingSet,
  type CreateTrainingSetOptions,
  type TrainingSet,
} from './training-set/create-training-set.js';
export type { TrainingRules } from './training-set/training-rules.js';
export { isContaminated } from './contamination/contamination.js';
export { DATASET_FORMATS, type DatasetFormatName } from './formats/formats.js';
export type { DatasetManifest } from './manifest.js';
export type { SelectionRow } from './selection/read-selection.js';
export { parseSplitShares } from './selection/splits.js';
