import type { RunSummary } from '../api/types';

export function hasEnded({ status }: Pick<RunSummary, 'status'>): boolean {
  return status !== 'running' && status !== 'idle';
}
