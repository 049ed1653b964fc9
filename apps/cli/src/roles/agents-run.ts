import { commandEnvironment } from '../data-directory/environment.js';

/** Name of the run that calls of agents are recorded in. */
export const AGENTS_RUN = 'agents';

/** Whether the environment names a model server for agents, which then answers in place of the policies. */
export function namesUpstream(): boolean {
  return (commandEnvironment.RETRACE_PROXY_UPSTREAM ?? '') !== '';
}
