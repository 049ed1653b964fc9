/** Choices and bounds of recipe fields that commands and routes have too. Imports nothing, so that a command line starts without the rest of the package. */

export const ENGINE_KINDS = ['tensorflow', 'torch', 'tinker'] as const;
export type EngineKind = (typeof ENGINE_KINDS)[number];

/** Programs that compute in a torch worker. */
export const ENGINE_BACKENDS = ['native', 'verl'] as const;

/** Below, sampling is greedy. */
export const MIN_TEMPERATURE = 0.01;
/** Above, sampling is uniform. */
export const MAX_TEMPERATURE = 10;
