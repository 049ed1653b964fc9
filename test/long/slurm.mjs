/**
 * Trains through the torch worker that a real Slurm starts by the line of `retrace engine torch --help` (a controller and two nodes on this machine, one
 * rank each), and kills each rank in the middle of an update: the job ends, is started again as a user starts it, and the run ends with the same weights,
 * no update or episode lost or doubled.
 *
 *   npm run test:long -- slurm
 *
 * Slurm and munge come from the system's packages (Debian: slurmctld, slurmd, slurm-client, munge). It takes two to three minutes on two free cores.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('slurm.spec.ts', 'Training in a Slurm cluster');
