/** Name of the run that calls of agents are recorded in. */
export const AGENTS_RUN = 'agents';
