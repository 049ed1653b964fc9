/** Installs the fast compute backend, reporting progress to the supervisor; ends at once where there is one already. */
import { runRole, superviseThisProcess } from '@retrace/config';
import { installBackend } from '@retrace/policy';

await runRole(async () => {
  const { signal, send } = superviseThisProcess();
  await installBackend({
    signal,
    onProgress: ({ stage, message, fraction }) => {
      if (stage !== 'installed') send({ type: 'progress', detail: `${stage}: ${message}`, fraction });
    },
  });
});
