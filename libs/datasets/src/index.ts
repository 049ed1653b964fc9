export { DatasetError, type DatasetErrorCode } from './dataset-error.js';
export { DatasetDirectory } from './dataset-directory.js';
export { registerDataset, type RegisterDatasetOptions } from './register-dataset.js';
export { createDataset, type CreateDatasetOptions } from './create-dataset.js';
export { isContaminated } from './contamination/contamination.js';
export { DATASET_FORMATS, type DatasetFormatName } from './formats/formats.js';
export type { DatasetManifest } from './manifest.js';
export type { SelectionRow } from './selection/read-selection.js';
export { parseSplitShares } from './selection/splits.js';
