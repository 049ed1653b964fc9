import { Option } from '@commander-js/extra-typings';
import { backendOption, newCommand, runOption } from '../../options.js';

export const savePolicyCommand = () =>
  newCommand('save-policy')
    .description('write a policy version as a Hugging Face directory, or its adapters in peft’s format')
    .argument('<directory>', 'directory to create; it must not exist yet')
    .addOption(runOption('save a policy of this run').default('latest'))
    .option(
      '--policy <version>',
      'policy version of the run, or "latest"; <run>/<version> for a policy of another run',
      'latest',
    )
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
