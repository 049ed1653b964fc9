import type { EngineRecipe, Recipe } from '@retrace/config';
import type { UsedEngine } from '@retrace/trajectory';
import { parseBackend } from '../engine/torch/used-backend.js';
import { TrainerError } from '../trainer-error.js';

/** The first weights and the optimizer's states of a run in a Tinker server are in that server, which takes none from elsewhere. */
function requireExchangeable(made: string, wanted: string): void {
  if (made === wanted || (made !== 'tinker' && wanted !== 'tinker')) return;
  throw new TrainerError(
    'NOT_REPLAYABLE',
    `made by engine "${made}", it can't be made again by "${wanted}": a Tinker server hands out no optimizer state, and takes no weights`,
  );
}

/**
 * An engine of the kind that made an update, in as many processes and in the same precision. A worker is started here, since one that answers at an
 * address may be training; a server of the Tinker API trains many models.
 *
 * @throws TrainerError `NOT_REPLAYABLE` for an engine that can't begin where that one did
 */
export function replayEngine(
  { engine }: Recipe,
  used: UsedEngine | null,
  asked: Partial<EngineRecipe> = {},
): EngineRecipe {
  const made = used?.kind ?? 'tensorflow';
  const { kind = asked.backend === undefined ? made : 'torch' } = asked;
  if (used !== null) requireExchangeable(used.kind, kind);
  if (kind === 'tinker') return { ...(engine?.kind === kind ? engine : {}), ...asked, kind };
  if (kind !== 'torch') return { kind: 'tensorflow' };
  const { url: _, tokenFile: __, ...local } = asked;
  const python = engine?.python === undefined ? {} : { python: engine.python };
  if (used?.kind !== 'torch') return { ...python, ...local, kind };
  const precision = used.precision as 'float32' | 'bfloat16';
  const { backend = parseBackend(used.version) } = local;
  // Its settings are in no event but that of the run's recipe.
  const settings = backend === 'verl' && engine?.options ? { options: engine.options } : {};
  return { ...python, ...settings, processes: used.numProcesses, precision, ...local, backend, kind };
}
