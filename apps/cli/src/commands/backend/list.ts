import { listBackends, type InstallationStatus } from '@retrace/compute';
import { experimentalNotice } from '../../experimental.js';
import type { CommonOptions } from '../../options.js';
import { renderRecords } from '../../terminal/table.js';

/** Prints all backends in order of choice. */
export async function list({ json }: CommonOptions): Promise<void> {
  const backends = await listBackends();
  if (json === true) {
    console.log(JSON.stringify(backends, null, 2));
    return;
  }
  const rows = backends.map(({ name, isChosen, obstacle, installations }) => ({
    backend: name,
    state: isChosen ? 'chosen' : obstacle === null ? 'usable' : 'not usable',
    installed: installations.map(({ tensorflowVersion }) => tensorflowVersion).join(', '),
    status: experimentalNotice(name),
    detail: obstacle ?? selectedVersion(installations),
  }));
  console.log(renderRecords(rows));
}

function selectedVersion(installations: readonly InstallationStatus[]): string {
  const selected = installations.find(({ isSelected }) => isSelected);
  return selected === undefined ? '' : `TensorFlow ${selected.tensorflowVersion}`;
}
