import { listBackends } from '@retrace/compute';
import { experimentalNotice } from '../../experimental.js';
import { runCheck, type CheckResult } from './check.js';

/** Names the backend that would be used. A slow one is a warning that says why no fast one can be used. */
export function checkBackend(): Promise<CheckResult> {
  return runCheck('backend', async () => {
    const backends = await listBackends();
    const chosen = backends.find(({ isChosen }) => isChosen);
    if (chosen === undefined || chosen.name === 'wasm' || chosen.name === 'cpu') {
      const reasons = backends
        .filter(({ obstacle }) => obstacle !== null)
        .map(({ name, obstacle }) => `${name}: ${obstacle ?? ''}`);
      return { verdict: 'warn', detail: `${chosen?.name ?? 'none'}, which is slow (${reasons.join('; ')})` };
    }
    const selected = chosen.installations.find(({ isSelected }) => isSelected);
    const detail = selected ? `${chosen.name} ${selected.tensorflowVersion}` : chosen.name;
    const notice = experimentalNotice(chosen.name);
    return notice === '' ? { verdict: 'ok', detail } : { verdict: 'warn', detail: `${detail}, ${notice}` };
  });
}
