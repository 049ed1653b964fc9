import { afterAll, beforeAll, describe } from 'vitest';
import type { BackendName } from '../backend/backend.js';
import { backendObstacle, openBackend } from '../backend/open-backend.js';
import { enableNativeOps } from '../ops/kernels/native-op.js';

interface TestedBackend {
  readonly title: string;
  readonly name: BackendName;
  readonly usesNativeOps: boolean;
}

/** TensorFlow with and without Retrace's own ops, WebAssembly, and plain JavaScript. */
const ON_PROCESSOR: readonly TestedBackend[] = [
  { title: 'tensorflow', name: 'tensorflow', usesNativeOps: true },
  { title: 'tensorflow without native ops', name: 'tensorflow', usesNativeOps: false },
  { title: 'wasm', name: 'wasm', usesNativeOps: false },
  { title: 'cpu', name: 'cpu', usesNativeOps: false },
];

/** Backends of a landing: the one that users have, and the one that is always there. All are for a release (`test/README.md`). */
const ON_LANDING = ON_PROCESSOR.filter(
  ({ name, usesNativeOps }) => name === 'wasm' || (name === 'tensorflow' && usesNativeOps),
);

/** The backend of `npm run test:gpu`. */
const ON_GPU: readonly TestedBackend[] = [
  { title: 'tensorflow-cuda', name: 'tensorflow-cuda', usesNativeOps: false },
];

const onProcessor = process.env['RETRACE_TESTS'] === undefined ? ON_LANDING : ON_PROCESSOR;
const tested = process.env['RETRACE_GPU_TESTS'] === 'on' ? ON_GPU : onProcessor;

/**
 * Runs a suite once on each backend. One that is not installed is reported as skipped, with the reason in the title.
 * Await it at the top level of a spec.
 */
export async function onEachBackend(title: string, suite: (backend: BackendName) => void): Promise<void> {
  for (const { title: backendTitle, name, usesNativeOps } of tested) {
    const obstacle = await backendObstacle(name);
    if (obstacle === null) {
      describe(`${title} on ${backendTitle}`, () => {
        beforeAll(async () => {
          await openBackend({ prefer: [name] });
          enableNativeOps(usesNativeOps);
        });
        afterAll(() => {
          enableNativeOps(true);
        });
        suite(name);
      });
    } else {
      describe.skip(`${title} on ${backendTitle}: skipped, because ${obstacle}`, () => {
        suite(name);
      });
    }
  }
}
