export { deleteCheckpoint, downloadAdapter, type DownloadedAdapter } from './adapter-archive.js';
export { checkServer, type CheckedServer } from './check-server.js';
export { makeDatum, type Datum, type TargetColumns } from './datum.js';
export {
  listBaseModels,
  findGradientNorm,
  type MeasureOptions,
  measureServer,
  type ReadAdapterFile,
  type Reduction,
  type ServerPromises,
} from './server-promises.js';
export { sampleTokens, type SampledTurn, type SampleRequest } from './sample-tokens.js';
export { TinkerClient, type TinkerClientOptions } from './tinker-client.js';
export { TinkerError, type TinkerErrorCode } from './tinker-error.js';
export type { AdamParameters, TrainingModel } from './training-model.js';
export { TrainingSession, type ModelRequest } from './training-session.js';
