import type { EnvironmentFacts, EnvironmentRecipe } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import { loadEnvironmentModule } from './module/load-environment-module.js';

/**
 * Facts about a recipe's environment that processes need which do not play it. A module is loaded; no server is started or asked.
 *
 * @throws EnvironmentError `UNKNOWN_ENVIRONMENT`; EnvironmentSourceError `MODULE_INVALID`
 */
export async function readEnvironment(environment: string | EnvironmentRecipe): Promise<EnvironmentFacts> {
  if (typeof environment === 'string') return getEnvironment(environment);
  if (environment.module !== undefined) {
    return loadEnvironmentModule(environment.module, environment.options);
  }
  // Whether a server identifies states is known when it is asked; the collector checks it then.
  return { name: environment.name ?? '', words: null, offersAnchors: true, agents: [] };
}
