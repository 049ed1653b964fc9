import type { Variables } from './read-variables.js';
import type { VariableName } from './variables.js';

/** Address of the store, and its user with write access. */
export interface StoreAccess {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** Null for a single server. */
  readonly cluster: string | null;
}

/** The variables that every process needs to open the store. */
export const STORE_VARIABLES = ['RETRACE_STORE_URL', 'RETRACE_STORE_USER'] as const;

/** The variables of the store that have a default. */
export const OPTIONAL_STORE_VARIABLES = [
  'RETRACE_STORE_PASSWORD',
  'RETRACE_STORE_CLUSTER',
] as const satisfies readonly VariableName[];

/** Returns the store that parsed variables name; the default password is empty. */
export function readStoreAccess(variables: Variables<(typeof STORE_VARIABLES)[number]>): StoreAccess {
  return {
    url: variables.RETRACE_STORE_URL,
    username: variables.RETRACE_STORE_USER,
    password: variables.RETRACE_STORE_PASSWORD ?? '',
    cluster: variables.RETRACE_STORE_CLUSTER ?? null,
  };
}
