import type { Recipe } from '@retrace/config';

/** Refuses a recipe whose engine can't compute here. @throws TrainerError `ENGINE_UNAVAILABLE` */
export async function requireEngine(recipe: Recipe): Promise<void> {
  const { engine } = recipe;
  if (engine?.kind === 'torch') await (await import('@retrace/trainer/torch')).requireEnginePackages(engine);
  if (engine?.kind === 'tinker') await (await import('@retrace/trainer/tinker')).requireServer(recipe);
}
