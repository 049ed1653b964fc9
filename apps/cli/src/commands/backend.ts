import { Command } from '@commander-js/extra-typings';
import { jsonOption, verboseOption } from '../options.js';

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
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ listBackends }, { renderRecords }] = await Promise.all([
        import('@retrace/policy'),
        import('../output/table.js'),
      ]);
      const backends = await listBackends();
      if (options.json) console.log(JSON.stringify(backends, null, 2));
      else console.log(renderRecords(backends));
    });

const benchCommand = () =>
  new Command('bench')
    .description('time a training step and matrix products on each usable backend')
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ benchBackend }, { renderRecords }] = await Promise.all([
        import('@retrace/policy'),
        import('../output/table.js'),
      ]);
      const results = await benchBackend();
      if (options.json) console.log(JSON.stringify(results, null, 2));
      else console.log(renderRecords([results].flat()));
    });

const removeCommand = () =>
  new Command('remove')
    .description('remove everything that "install" put into the cache directory')
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const { removeBackend } = await import('@retrace/policy');
      await removeBackend();
      console.log(options.json ? JSON.stringify({ removed: true }) : 'The installed backends are removed.');
    });
