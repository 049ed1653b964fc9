import { Option } from '@commander-js/extra-typings';
import { newCommand } from '../../options.js';

export const backendCommand = () =>
  newCommand('backend')
    .description('install, list, time or remove the compute backends of this machine')
    .addCommand(installCommand())
    .addCommand(listCommand())
    .addCommand(benchCommand())
    .addCommand(removeCommand());

const installCommand = () =>
  newCommand('install')
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
    .action(async (_, command) => (await import('./install.js')).install(command.optsWithGlobals()));

const listCommand = () =>
  newCommand('list')
    .description('list all backends, fastest first, and why one cannot be used')
    .action(async (_, command) => (await import('./list.js')).list(command.optsWithGlobals()));

const benchCommand = () =>
  newCommand('bench')
    .description('time matrix products, the overhead of an op and a training step on the usable backends')
    .argument('[backend]', 'only this one')
    .action(async (name, _, command) => (await import('./bench.js')).bench(name, command.optsWithGlobals()));

const removeCommand = () =>
  newCommand('remove')
    .description('remove everything that "install" put into the cache directory')
    .option('--tensorflow <version>', 'only this version')
    .action(async (_, command) => (await import('./remove.js')).remove(command.optsWithGlobals()));
