import type { EngineRecipe, Recipe } from '@retrace/config';
import type { UsedEngine } from '@retrace/trajectory';

/**
 * An engine of the kind that made an update, in as many processes and in the same precision. It is started here, since one that answers at an
 * address may be training.
 */
export function replayEngine(
  { engine }: Recipe,
  used: UsedEngine | null,
  asked: Partial<EngineRecipe> = {},
): EngineRecipe {
  const { kind = used?.kind ?? 'tensorflow' } = asked;
  if (kind !== 'torch') return { kind: 'tensorflow' };
  const python = engine?.python === undefined ? {} : { python: engine.python };
  if (used?.kind !== 'torch') return { ...python, ...asked, kind };
  const precision = used.precision as 'float32' | 'bfloat16';
  return { ...python, processes: used.numProcesses, precision, ...asked, kind };
}
