import { Option } from '@commander-js/extra-typings';
import { backendOption, newCommand } from '../../options.js';

export const savePolicyCommand = () =>
  newCommand('save-policy')
    .description('write a policy version as a Hugging Face directory, or its adapters in peft’s format')
    .argument('<directory>', 'directory to create; it must not exist yet')
    .option('--run <id>', 'run id, or "latest"', 'latest')
    .option('--policy <version>', 'policy version of the run, or "latest"', 'latest')
    .option(
      '--adapter',
      'write only the adapters, instead of a model with the adapters merged into its weights',
    )
    .addOption(
      new Option('--dtype <type>', 'data type of the weights')
        .choices(['float32', 'bfloat16'] as const)
        .default('float32' as const),
    )
    .addOption(backendOption())
    .action(async (directory, _, command) =>
      (await import('./save-policy.js')).savePolicy(directory, command.optsWithGlobals()),
    );
