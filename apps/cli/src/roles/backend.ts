/** Installs the fast compute backend, reporting progress to the supervisor; ends at once where there is one already. */
import { runRole, superviseThisProcess } from '@retrace/config';
import { ensureBackend, listBackends } from '@retrace/policy';

await runRole(async () => {
  const { signal, send } = superviseThisProcess();
  const chosen = (await listBackends()).find(({ isChosen }) => isChosen);
  if (chosen !== undefined && chosen.name !== 'wasm') return;
  const { message } = await ensureBackend({
    signal,
    onProgress: ({ stage, message: detail, fraction }) => {
      if (stage !== 'installed') send({ type: 'progress', detail: `${stage}: ${detail}`, fraction });
    },
  });
  console.log(message);
});
