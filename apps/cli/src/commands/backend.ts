import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../options.js';

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
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ installBackend }, { createLogStream }] = await Promise.all([
        import('@retrace/policy'),
        import('../supervisor/log-stream.js'),
      ]);
      const log = createLogStream({ json: options.json === true, out: process.stderr });
      const { manifest } = await installBackend({
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
          message: `TensorFlow ${tensorflowVersion} (${variant}) is installed`,
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
        import('@retrace/policy'),
        import('../output/table.js'),
      ]);
      const backends = await listBackends();
      if (options.json) {
        console.log(JSON.stringify(backends, null, 2));
        return;
      }
      const rows = backends.map(({ name, isChosen, obstacle, installation }) => ({
        backend: name,
        state: isChosen ? 'chosen' : obstacle === null ? 'usable' : 'not usable',
        detail: obstacle ?? (installation === null ? '' : `TensorFlow ${installation.tensorflowVersion}`),
      }));
      console.log(renderRecords(rows));
    });

const benchCommand = () =>
  new Command('bench')
    .description('time matrix products, op overhead and a training step on the usable backends')
    .argument('[backend]', 'only this one')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      const [{ benchUsableBackends, benchOneBackend }, { renderRecords }] = await Promise.all([
        import('../session/bench-backends.js'),
        import('../output/table.js'),
      ]);
      const results = name === undefined ? await benchUsableBackends() : [await benchOneBackend(name)];
      console.log(options.json ? JSON.stringify(results, null, 2) : renderRecords(results));
    });

const removeCommand = () =>
  new Command('remove')
    .description('remove everything that "install" put into the cache directory')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const { removeBackend } = await import('@retrace/policy');
      await removeBackend();
      console.log(options.json ? JSON.stringify({ removed: true }) : 'The installed backends are removed.');
    });
