import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe } from 'vitest';
import { itSurvivesLostRanks } from '../engines/clustered-runs.js';
import { RayCluster } from '../support/ray-cluster.js';
import { rayEnvironment } from '../support/ray-environment.mjs';

const environment = await rayEnvironment();

/* A local Ray cluster with one worker of two ranks. What is killed are Ray's processes, as nothing of ours starts them again. */
describe.skipIf('unavailable' in environment)(
  'unavailable' in environment ? `skipped, because ${environment.unavailable}` : 'a run in a Ray cluster',
  () => {
    if ('unavailable' in environment) return;
    let cluster: RayCluster;
    beforeAll(async () => {
      await openBackend();
      cluster = await RayCluster.start(environment.python, 2);
    });
    afterAll(() => cluster.stop());

    itSurvivesLostRanks(() => cluster);
  },
);
