import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';

const builtPackage = (file: string) => JSON.stringify(new URL(`../../dist/${file}`, import.meta.url).href);

/** Multiplies matrices of so many rows that oneDNN keeps its sums in a block of the heap, until 300 signals have been handled. */
const PRODUCTS = `
  const { openBackend } = await import(${builtPackage('index.js')});
  const tf = await import(${builtPackage('tensorflow.js')});
  const { Session } = await import('node:inspector');
  const { reason } = await openBackend({ largestMatrix: 1000 });
  console.log(reason);
  if (!reason.startsWith('tensorflow') || reason.includes('without the fused ops')) process.exit();
  let numHandled = 0;
  process.on('SIGUSR2', () => { numHandled++; });
  const profiled = process.argv[1] === 'profiled';
  const session = new Session();
  if (profiled) {
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.setSamplingInterval', { interval: 200 });
    session.post('Profiler.start');
  }
  console.log('ready');
  const left = tf.randomNormal([20_000, 64]), right = tf.randomNormal([20_000, 176]);
  for (let n = 0; profiled ? n < 200 : numHandled < 300; n++) {
    tf.matMul(left, right, true, false).dispose();
    await new Promise((resolve) => { setImmediate(resolve); });
  }
  if (profiled) session.post('Profiler.stop', (_, { profile }) => { console.log(profile.samples.length > 10 ? 'samples' : 'none'); });
  console.log('survived');
  process.exit();
`;

async function run(mode: 'signals' | 'profiled') {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PRODUCTS, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (mode === 'signals' && output.includes('ready')) timer ??= setInterval(() => child.kill('SIGUSR2'), 1);
  });
  const exited = once(child, 'close');
  await exited;
  clearInterval(timer);
  return { output, signal: child.signalCode };
}

/** The frame of a signal overwrote what lay below that block: SIGCHLD, SIGTERM and profilers ended a trainer, or changed its weights. */
describe('a process that computes with TensorFlow', () => {
  it.for(['signals', 'profiled'] as const)(
    'keeps its heap whatever interrupts it: %s',
    async (mode, context) => {
      const { output, signal } = await run(mode);
      if (!output.includes('ready')) context.skip();
      expect(signal).toBeNull();
      expect(output).toMatch(mode === 'profiled' ? /samples\nsurvived\n$/ : /ready\nsurvived\n$/);
    },
  );
});
