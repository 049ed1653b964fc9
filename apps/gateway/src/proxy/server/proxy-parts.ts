import type { ProxyConfig } from '../proxy-config.js';
import type { CallRecorder } from '../record/call-recorder.js';
import type { RunNames } from '../record/run-names.js';
import type { KindDetector } from '../upstream/upstream-kind.js';
import type { Upstream } from '../upstream/upstream.js';
import type { ProxyMetrics } from './proxy-metrics.js';

/** The parts of a proxy that handle a call. */
export interface ProxyParts {
  readonly config: ProxyConfig;
  readonly upstream: Upstream;
  readonly detector: KindDetector;
  readonly recorder: CallRecorder;
  readonly runs: RunNames;
  readonly metrics: ProxyMetrics;
  readonly warn: (message: string) => void;
}
