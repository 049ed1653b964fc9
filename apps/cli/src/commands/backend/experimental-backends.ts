import type { BackendName } from '../../server/role-definitions.js';

const NEVER_RUN_ON_A_GPU: ReadonlySet<BackendName> = new Set(['tensorflow-cuda', 'tfjs-node-gpu', 'webgpu']);

/** A sentence fragment about a backend that has never run on the hardware that it is for; null for the others. */
export function experimentNotice(backend: BackendName): string | null {
  return NEVER_RUN_ON_A_GPU.has(backend) ? 'experimental, never run on a GPU' : null;
}
