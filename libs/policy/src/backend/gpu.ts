import { existsSync } from 'node:fs';

/** Whether a process may use an NVIDIA GPU here: its driver's device is there and not hidden by the environment. */
export function gpuIsVisible(environment: NodeJS.ProcessEnv = process.env): boolean {
  const visible = environment['CUDA_VISIBLE_DEVICES'];
  if (visible !== undefined && (visible.trim() === '' || visible.trim().startsWith('-1'))) return false;
  return existsSync('/dev/nvidiactl') || existsSync('/dev/dxg');
}
