import type { EngineRecipe } from '@retrace/config';

/** The version of a torch worker as lineage has it: `torch 2.11.0`, or `torch 2.11.0, verl 0.9.1 fsdp2`. */
export function workerVersion(torch: string, backend: string): string {
  return backend === 'native' ? `torch ${torch}` : `torch ${torch}, ${backend}`;
}

/** Tells by such a version which back-end computed. */
export function parseBackend(version: string): NonNullable<EngineRecipe['backend']> {
  return /, verl /.test(version) ? 'verl' : 'native';
}
