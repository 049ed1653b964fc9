import { existsSync, readdirSync } from 'node:fs';

/** Whether a process may use an NVIDIA GPU here: its driver's device is there and not hidden by the environment. */
export function gpuIsVisible(environment: NodeJS.ProcessEnv = process.env): boolean {
  const visible = environment['CUDA_VISIBLE_DEVICES'];
  if (visible !== undefined && (visible.trim() === '' || visible.trim().startsWith('-1'))) return false;
  return existsSync('/dev/nvidiactl') || existsSync('/dev/dxg');
}

/** The GPUs that this process may use, as `CUDA_VISIBLE_DEVICES` names them; none where no GPU is visible. */
export function visibleGpus(environment: NodeJS.ProcessEnv = process.env): string[] {
  if (!gpuIsVisible(environment)) return [];
  const named = environment['CUDA_VISIBLE_DEVICES'];
  if (named !== undefined) return named.split(',').map((device) => device.trim());
  const numDevices = readdirSync('/dev').filter((name) => /^nvidia\d+$/.test(name)).length;
  return Array.from({ length: Math.max(1, numDevices) }, (_, device) => String(device));
}
