/**
 * The installer's process: installs the fast compute backend, or rebuilds fused ops whose sources have changed since, and reports
 * progress to the supervisor. Ends silently when everything is installed.
 */
import { runProcess } from '@retrace/process';
import { ensureBackend, listBackends, type BackendName } from '@retrace/compute';

await runProcess(process.env, async ({ signal, send }) => {
  const chosen = (await listBackends()).find(({ isChosen }) => isChosen);
  const installable: readonly BackendName[] = ['tensorflow', 'webgpu', 'wasm'];
  if (chosen !== undefined && !installable.includes(chosen.name)) return;
  let didAnything = false;
  const { isInstalled, message } = await ensureBackend({
    signal,
    onProgress: ({ stage, message: detail, fraction }) => {
      if (stage === 'installed') return;
      didAnything = true;
      send({ type: 'progress', detail: `${stage}: ${detail}`, fraction });
    },
  });
  // Without its fused ops TensorFlow is still the fastest backend, and the roles log that the ops are missing.
  if (didAnything && (isInstalled || chosen?.name === 'wasm')) console.log(message);
});
