import { Command } from '@commander-js/extra-typings';
import type { InstallationStatus } from '@retrace/compute';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const backendCommand = () =>
  new Command('backend')
    .description('the compute backends of this machine')
    .addCommand(installCommand())
    .addCommand(listCommand())
    .addCommand(benchCommand())
    .addCommand(removeCommand());

const installCommand = () =>
  new Command('install')
    .description('build TensorFlow.js against a current TensorFlow, into a cache directory')
    .option('--cuda', 'for NVIDIA GPUs (CUDA 12)')
    .option('--tensorflow <version>', 'this version, beside others, in place of the one that processes open')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [policy, { createLogStream }] = await Promise.all([
        import('@retrace/compute'),
        import('../../supervisor/log-stream.js'),
      ]);
      const chosen = policy.chosenTensorflowVersion();
      const version =
        options.tensorflow === undefined
          ? chosen
          : policy.parseTensorflowVersion(options.tensorflow, '--tensorflow');
      const log = createLogStream({ json: options.json === true, out: process.stderr });
      const { manifest } = await policy.installBackend({
        version,
        cuda: options.cuda === true,
        onProgress: ({ stage, message, fraction }) => {
          log.progress('backend', `${stage}: ${message}`, fraction);
        },
      });
      const { tensorflowVersion, variant, platform } = manifest;
      if (options.json) console.log(JSON.stringify({ tensorflowVersion, variant, platform }));
      else
        log.write({
          role: 'backend',
          level: 'info',
          message:
            `TensorFlow ${tensorflowVersion} (${variant}) is installed` +
            (version === chosen ? '' : `; RETRACE_TENSORFLOW=${version} opens it in place of ${chosen}`),
        });
    });

const listCommand = () =>
  new Command('list')
    .description('all backends in order of choice, and why each can or can’t be used')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ listBackends }, { renderRecords }] = await Promise.all([
        import('@retrace/compute'),
        import('../../terminal/table.js'),
      ]);
      const backends = await listBackends();
      if (options.json) {
        console.log(JSON.stringify(backends, null, 2));
        return;
      }
      const rows = backends.map(({ name, isChosen, obstacle, installations }) => ({
        backend: name,
        state: isChosen ? 'chosen' : obstacle === null ? 'usable' : 'not usable',
        installed: installations.map(({ tensorflowVersion }) => tensorflowVersion).join(', '),
        detail: obstacle ?? openedVersion(installations),
      }));
      console.log(renderRecords(rows));
    });

function openedVersion(installations: readonly InstallationStatus[]): string {
  const selected = installations.find(({ isSelected }) => isSelected);
  return selected === undefined ? '' : `TensorFlow ${selected.tensorflowVersion}`;
}

const benchCommand = () =>
  new Command('bench')
    .description('time matrix products, op overhead and a training step on the usable backends')
    .argument('[backend]', 'only this one')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      const [{ benchUsableBackends, benchOneBackend }, { renderRecords }] = await Promise.all([
        import('./bench.js'),
        import('../../terminal/table.js'),
      ]);
      const results = name === undefined ? await benchUsableBackends() : [await benchOneBackend(name)];
      console.log(options.json ? JSON.stringify(results, null, 2) : renderRecords(results));
    });

const removeCommand = () =>
  new Command('remove')
    .description('remove everything that "install" put into the cache directory')
    .option('--tensorflow <version>', 'this version alone')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const { parseTensorflowVersion, removeBackend } = await import('@retrace/compute');
      const removed = await removeBackend(
        options.tensorflow === undefined
          ? {}
          : { version: parseTensorflowVersion(options.tensorflow, '--tensorflow') },
      );
      if (options.json) console.log(JSON.stringify({ removed }));
      else console.log(removed.length === 0 ? 'Nothing was installed.' : `Removed ${removed.join(', ')}.`);
    });
