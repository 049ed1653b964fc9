import { Command, Option } from '@commander-js/extra-typings';
import { backendOption, dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const savePolicyCommand = () =>
  new Command('save-policy')
    .description('write a policy version as a Hugging Face directory, or its adapters as peft has them')
    .argument('<directory>', 'a directory that is not there yet')
    .option('--run <id>', 'run, or "latest"', 'latest')
    .option('--policy <version>', 'policy version of the run, or "latest"', 'latest')
    .option('--adapter', 'the adapters alone, instead of a model that has them added to its weights')
    .addOption(
      new Option('--dtype <type>', 'of the weights')
        .choices(['float32', 'bfloat16'] as const)
        .default('float32' as const),
    )
    .addOption(backendOption())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (directory, options) => {
      const [{ withStore }, { saveStoredPolicy }] = await Promise.all([
        import('../../services/store-session.js'),
        import('./save-policy.js'),
      ]);
      const saved = await withStore(options, (session) =>
        saveStoredPolicy(session, {
          directory,
          run: options.run,
          policy: options.policy,
          adapterAlone: options.adapter ?? false,
          dtype: options.dtype,
          backend: options.backend,
        }),
      );
      if (options.json) console.log(JSON.stringify(saved));
      else console.log(`policy ${saved.policyVersion} of run ${saved.runId} is in ${saved.directory}`);
    });
