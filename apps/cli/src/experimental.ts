import type { BackendChoice } from '@retrace/process';

/** Backends for GPUs. Tests run `webgpu` on SwiftShader only, and the CUDA builds only up to loading. */
const GPU_BACKENDS: ReadonlySet<BackendChoice> = new Set(['tensorflow-cuda', 'tfjs-node-gpu', 'webgpu']);

/** For a backend that has never run on the hardware that it is for; '' for the others. */
export function experimentalNotice(backend: BackendChoice): string {
  return GPU_BACKENDS.has(backend) ? 'experimental, never run on a GPU' : '';
}

export const CLUSTER_NOTICE = 'RETRACE_STORE_CLUSTER is experimental: the schema has never run on a cluster';

export const IMAGE_NOTICE = 'the image is experimental, never run in Docker';

/** All that has never run on the hardware or service that it is for, for `retrace --help`. */
export const EXPERIMENTAL_HELP = `
Experimental:
  CUDA backends         never run on a GPU
  backend webgpu        never run on a GPU, only on SwiftShader (a GPU in software)
  ClickHouse clusters   the schema for RETRACE_STORE_CLUSTER has never run on a cluster
  container image       never built or run in Docker, nor docker-compose.yml`;
