import { specFault, type EnvironmentSpec } from '@retrace/environments';
import { importModule } from '@retrace/process/modules';
import { EnvironmentSourceError } from '../errors.js';

const EXAMPLE =
  'must be export default { name, description, maxSteps, create, sampleTask, agents … }, or a function of options';

/**
 * Loads the environment that a file exports as its default: an `EnvironmentSpec`, or a function of the recipe's options that returns one,
 * also by promise.
 *
 * @param path absolute
 * @throws EnvironmentSourceError `MODULE_INVALID` naming the file and what is wrong with it
 */
export async function loadEnvironmentModule(
  path: string,
  options: Readonly<Record<string, unknown>> = {},
): Promise<EnvironmentSpec> {
  const refuse = (what: string, cause?: unknown) =>
    new EnvironmentSourceError('MODULE_INVALID', `environment module ${path}: ${what}`, { cause });
  let exported: unknown;
  try {
    exported = await importModule(path);
  } catch (cause) {
    const { message } = cause as Error;
    throw refuse(message === 'has no default export' ? `${message}; ${EXAMPLE}` : message, cause);
  }
  if (typeof exported !== 'function' && Object.keys(options).length > 0) {
    throw refuse(
      `takes no options, got ${Object.keys(options).join(', ')}: its default export is no function`,
    );
  }
  let spec: unknown = exported;
  if (typeof exported === 'function') {
    try {
      spec = await (exported as (options: unknown) => unknown)(options);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw refuse(`its function failed: ${message}`, cause);
    }
  }
  const fault = specFault(spec);
  if (fault !== null) throw refuse(`its default export is not an environment: ${fault}; ${EXAMPLE}`);
  return spec as EnvironmentSpec;
}
