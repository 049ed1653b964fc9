export { exportMetrics } from './files/export-metrics.js';
export { JsonLinesMetricsFile } from './files/json-lines-file.js';
export type { MetricWriter } from './files/metric-writer.js';
export { MetricsError, type MetricsErrorCode } from './metrics-error.js';
export { TensorboardFile, tensorboardPath } from './tensorboard/tensorboard-file.js';
