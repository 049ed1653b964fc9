import { beforeAll, describe } from 'vitest';
import type { BackendName } from '../backend/backend.js';
import { defaultCacheDirectory } from '../backend/installer/installation.js';
import { backendObstacle, openBackend } from '../backend/open-backend.js';

/** TensorFlow, what every machine has, and plain JavaScript. */
const tested: readonly BackendName[] = ['tensorflow', 'wasm', 'cpu'];

/**
 * Runs a suite once on each backend. One that is not installed is reported as skipped, with the reason in the title.
 * Await it at the top level of a spec.
 */
export async function onEachBackend(title: string, suite: (backend: BackendName) => void): Promise<void> {
  for (const name of tested) {
    const obstacle = await backendObstacle(name, defaultCacheDirectory());
    if (obstacle === null) {
      describe(`${title} on ${name}`, () => {
        beforeAll(async () => {
          await openBackend({ prefer: [name] });
        });
        suite(name);
      });
    } else {
      describe.skip(`${title} on ${name}: skipped, because ${obstacle}`, () => {
        suite(name);
      });
    }
  }
}
