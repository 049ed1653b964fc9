import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe } from 'vitest';
import { itSurvivesLostRanks } from '../engines/clustered-runs.js';
import { findSlurmObstacle, SlurmCluster } from '../support/slurm-cluster.js';
import { torchEnvironment } from '../support/torch-environment.mjs';

const missing = findSlurmObstacle();
const environment = missing === null ? await torchEnvironment() : { unavailable: missing };

/* A Slurm of two nodes on this machine, with one rank each. Who started a job starts it again after a rank was lost. */
describe.skipIf('unavailable' in environment)(
  'unavailable' in environment ? `skipped, because ${environment.unavailable}` : 'a run in a Slurm cluster',
  () => {
    if ('unavailable' in environment) return;
    let cluster: SlurmCluster;
    beforeAll(async () => {
      await openBackend();
      cluster = await SlurmCluster.start(environment.python);
    });
    afterAll(() => cluster.stop());

    itSurvivesLostRanks(() => cluster);
  },
);
