import { Command, Option } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const backendCommand = () =>
  new Command('backend')
    .description('install, list, time or remove the compute backends of this machine')
    .addCommand(installCommand())
    .addCommand(listCommand())
    .addCommand(benchCommand())
    .addCommand(removeCommand());

const installCommand = () =>
  new Command('install')
    .description('build TensorFlow.js against a current TensorFlow, in a cache directory')
    .option('--cuda', 'for NVIDIA GPUs (CUDA 12); experimental, never run on a GPU')
    .option(
      '--tensorflow <version>',
      'install this version beside others; RETRACE_TENSORFLOW selects it for the processes that use it',
    )
    .addOption(
      new Option(
        '--webgpu',
        "Dawn instead of TensorFlow, for GPUs that are not NVIDIA's; experimental, never run on a GPU",
      ).conflicts(['cuda', 'tensorflow']),
    )
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./install.js')).install(options));

const listCommand = () =>
  new Command('list')
    .description('list all backends, fastest first, and why one cannot be used')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./list.js')).list(options));

const benchCommand = () =>
  new Command('bench')
    .description('time matrix products, the overhead of an op and a training step on the usable backends')
    .argument('[backend]', 'only this one')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => (await import('./bench.js')).bench(name, options));

const removeCommand = () =>
  new Command('remove')
    .description('remove everything that "install" put into the cache directory')
    .option('--tensorflow <version>', 'only this version')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./remove.js')).remove(options));
