import { Argument } from '@commander-js/extra-typings';
import { newCommand, wholeNumber } from '../../options.js';

/** Ways to start a worker without this command, each tried on processors; on GPUs only one process was. */
const LAUNCH_LINES = `
Without this command, where Python has the package "retrace[engine]":
  one process     python -m retrace.engine --host 127.0.0.1 --port 8100 --token-file token
  several         torchrun --nproc-per-node 4 -m retrace.engine --host 127.0.0.1 --port 8100 --token-file token
  several hosts   torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint HOST:29500 \\
                    -m retrace.engine --host 0.0.0.0 --port 8100 --token-file token   (on each; rank 0 serves)
  Ray             python -m retrace.engine.on_ray --nproc 4 --port 8100 --token-file token   (with "retrace[engine,ray]", where
                    a cluster runs: ray start --head; Ray starts all ranks again when one is lost)
  Slurm           srun --nodes 2 --ntasks-per-node 1 torchrun … as above: srun starts the same line on each host

Then:
  retrace train --recipe R --engine-url http://RANK-0-HOST:8100 --engine-token-file token

The worker reads and writes checkpoints by path: each of its hosts must see the trainer's directory of checkpoints under the same path.
Whoever has the token can have it read and write files; give it an address that others can't reach.
On GPUs the worker was tried on a single H200 (docs/results/gpu-check.md), never on several, and no whole run was made there.`;

export const engineCommand = () =>
  newCommand('engine')
    .description('start a worker that computes gradients for a trainer, or check a server that does')
    .addCommand(torchCommand())
    .addCommand(checkCommand());

const torchCommand = () =>
  newCommand('torch')
    .description('start a torch worker that serves trainers one after the other, until Ctrl-C')
    .option('--nproc <number>', 'processes that share model and optimizer', wholeNumber(1, 1024), 1)
    .option('--python <program>', 'Python that has torch', 'python3')
    .option('--host <address>', 'address that it listens on', '127.0.0.1')
    .option('--port <number>', 'port that it listens on', wholeNumber(1, 65_535), 8100)
    .option('--token-file <path>', 'file with its token; made where it does not exist', 'engine-token')
    .addHelpText('after', LAUNCH_LINES)
    .action(async (_, command) => (await import('./serve-torch.js')).serveTorch(command.optsWithGlobals()));

const checkCommand = () =>
  newCommand('check')
    .description(
      'measure what a server of the Tinker API does, on models that it makes and unloads; exits 1 if no run can be trained there',
    )
    .addArgument(new Argument('<url>', 'address of the server, as in --engine-url'))
    .option('--base-model <name>', 'base model to check it with; default: the only one that the server has')
    .option('--rank <number>', 'rank of the adapters', wholeNumber(1, 1024), 8)
    .option('--token-file <path>', 'file with the API key')
    .action(async (url, _, command) =>
      (await import('./check-server.js')).checkEngineServer({ ...command.optsWithGlobals(), url }),
    );
