import { listEnvironments } from '@retrace/environments';
import type { CommonOptions } from '../../options.js';
import { renderTable } from '../../terminal/table.js';

/** Prints the built-in environments. */
export function listAll({ json }: Pick<CommonOptions, 'json'>): void {
  const environments = listEnvironments().map(({ name, description, maxSteps, offersAnchors, agents }) => {
    return { name, description, maxSteps, offersAnchors, agents: agents.map((agent) => agent.name) };
  });
  if (json === true) {
    console.log(JSON.stringify(environments, null, 2));
    return;
  }
  const rows = environments.map(({ name, description, maxSteps, agents }) => [
    ...[name, description, `${maxSteps}`, agents.join(', ')],
  ]);
  console.log(renderTable(['environment', 'description', 'steps', 'agents'], rows));
}
