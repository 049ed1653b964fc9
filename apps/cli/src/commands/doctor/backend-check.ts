import { runCheck, type CheckResult } from './check.js';

/** Which backend would compute; slow ones are a warning that says what is missing for a fast one. */
export function checkBackend(): Promise<CheckResult> {
  return runCheck('backend', async () => {
    const { listBackends } = await import('@retrace/compute');
    const backends = await listBackends();
    const chosen = backends.find(({ isChosen }) => isChosen);
    const reasons = backends
      .filter(({ obstacle }) => obstacle !== null)
      .map(({ name, obstacle }) => `${name}: ${obstacle ?? ''}`)
      .join('; ');
    const selected = chosen?.installations.find(({ isSelected }) => isSelected);
    const isFast = chosen !== undefined && chosen.name !== 'wasm' && chosen.name !== 'cpu';
    return isFast
      ? { verdict: 'ok', detail: selected ? `${chosen.name} ${selected.tensorflowVersion}` : chosen.name }
      : { verdict: 'warn', detail: `${chosen?.name ?? 'none'}, which is slow (${reasons})` };
  });
}
