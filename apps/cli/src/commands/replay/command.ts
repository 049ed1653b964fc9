import { Argument } from '@commander-js/extra-typings';
import type { EngineRecipe } from '@retrace/config';
import type { BackendChoice } from '@retrace/process';
import {
  backendOption,
  engineBackendOption,
  engineOption,
  type CommonOptions,
  newCommand,
  runOption,
  wholeNumberOrLatest,
} from '../../options.js';

/** Options of `replay` that `replay run` takes too. */
interface WholeRunOptions {
  readonly run: string;
  readonly backend: BackendChoice;
  readonly engine: EngineRecipe['kind'];
  readonly engineBackend: NonNullable<EngineRecipe['backend']>;
  readonly enginePython: string;
  readonly engineUrl: string;
  readonly engineTokenFile: string;
}

export const replayCommand = () =>
  newCommand('replay')
    .description(
      're-run a recorded update from its manifest, after those since the nearest checkpoint; exits 1 if the loss differs, 3 if it can’t tell',
    )
    .addOption(runOption('re-run an update of this run').default('latest'))
    .option(
      '--update <number>',
      'number of the update, or "latest" for the newest of the run',
      wholeNumberOrLatest(1),
    )
    .addOption(backendOption())
    .addOption(
      engineOption(
        'engine that makes the updates again, instead of the one that each had; prints how they differ',
      ),
    )
    .addOption(
      engineBackendOption(
        'what computes in the torch worker, instead of what each update had: native or verl',
      ),
    )
    .option('--engine-python <program>', 'Python with torch, for updates of the torch engine')
    .option(
      '--engine-url <url>',
      'server of the Tinker API, for its updates, where it is no longer at the address of the recipe',
    )
    .option('--engine-token-file <path>', 'file with the API key of that server')
    .addCommand(replayRunCommand())
    .action(async (_, command) => (await import('./replay.js')).replay(command.optsWithGlobals()));

const replayRunCommand = () =>
  newCommand('run')
    .description(
      're-run all updates of a run, from the weights that its recipe starts with; exits 1 if a published policy has other weights',
    )
    .addArgument(new Argument('[run]', 'the run; default: that of --run'))
    .action(async (run, _, command) => {
      // The options of `replay` itself are global here.
      const options: CommonOptions & Partial<WholeRunOptions> = command.optsWithGlobals();
      const chosen = run ?? options.run ?? 'latest';
      await (await import('./replay-run.js')).replayWholeRun({ ...options, run: chosen });
    });
