import { createInterface } from 'node:readline';
import { resolveEnvironment } from '@retrace/config';
import { openEnvironment } from '@retrace/environment-sources';
import type { EnvironmentSpec, Observation } from '@retrace/environments';

interface TryOptions {
  readonly seed: number;
  readonly index: number;
}

/** Plays one episode with the lines of standard input as actions; ends with it, with an empty line, or with the input. */
export async function tryEnvironment(nameOrFile: string, options: TryOptions): Promise<void> {
  const { spec, close } = await openEnvironment(resolveEnvironment(nameOrFile));
  try {
    await playByHand(spec, options);
  } finally {
    await close();
  }
}

async function playByHand(spec: EnvironmentSpec, { seed, index }: TryOptions): Promise<void> {
  const environment = spec.create();
  const sampled = spec.sampleTask({ split: 'train', index, seed });
  console.log(`${spec.name}: ${spec.description}`);
  console.log(
    `task ${JSON.stringify(sampled.task)}, seed ${sampled.seed}, at most ${spec.maxSteps} actions\n`,
  );
  show(await environment.reset(sampled));
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt: '> ',
    terminal: false,
  });
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() === '') break;
    const { observation, reward, terminated, truncated, success, actionValid } = await environment.step(line);
    console.log(`${actionValid ? '' : 'not understood; '}reward ${reward ?? 'none'}\n`);
    show(observation);
    if (terminated || truncated) {
      const outcome = success === null ? 'its success is unknown' : success ? 'a success' : 'no success';
      console.log(`\n${terminated ? 'terminated' : 'truncated'}, ${outcome}`);
      break;
    }
    lines.prompt();
  }
  lines.close();
  await environment.close();
}

function show({ text, legalActions }: Observation): void {
  console.log(text);
  if (legalActions !== null) console.log(`[${legalActions.join(' | ')}]`);
}
