/**
 * Installs the fast compute backend, or what a finished installation lacks since the sources of the fused ops have changed, and
 * reports progress to the supervisor; ends at once, without a word, where everything is there.
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
  // Without its fused ops TensorFlow still is the fastest choice; the roles say that they lack them.
  if (didAnything && (isInstalled || chosen?.name === 'wasm')) console.log(message);
});
