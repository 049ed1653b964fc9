import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const rebuildCommand = () =>
  new Command('rebuild')
    .description(
      'project the store anew from the log; readers see the old rows until the new ones are complete',
    )
    .option('--run <id>', 'only the rows of this run')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { rebuildDataDirectory }, { renderTable }] = await Promise.all([
        import('../../services/store-session.js'),
        import('./rebuild.js'),
        import('../../terminal/table.js'),
      ]);
      const report = await withStore({ dataDir: options.dataDir, upToDate: false }, (session) =>
        rebuildDataDirectory(session, { runId: options.run }),
      );
      if (options.json) {
        console.log(JSON.stringify(report, null, 2));
        return;
      }
      const { before, after, numRowsProjected, projectingMs } = report;
      const hashBefore = new Map(before?.map(({ runId, rowHash }) => [runId, rowHash]));
      const rows = after.map(({ runId, numRows, rowHash }) => [
        runId === '' ? '(no run)' : runId,
        numRows,
        hashBefore.get(runId) ?? null,
        rowHash,
        hashBefore.get(runId) === rowHash ? 'identical' : 'changed',
      ]);
      console.log(renderTable(['run', 'rows', 'row hash before', 'row hash now', 'result'], rows));
      if (before === null) console.log('the rows of before could not be read');
      for (const { runId } of before ?? []) {
        if (after.every((run) => run.runId !== runId))
          console.log(`run ${runId} is not in the log; its rows are gone`);
      }
      const rate = Math.round((1000 * numRowsProjected) / projectingMs);
      console.log(
        `${numRowsProjected.toLocaleString('en')} rows projected in ${(projectingMs / 1000).toFixed(1)} s, ${rate.toLocaleString('en')} rows/s`,
      );
    });
