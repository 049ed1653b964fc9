import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../libs/process/free-port.mjs';
import type { ClusteredWorker } from '../engines/clustered-runs.js';
import { isWorker, runningPids } from '../engines/processes.js';
import { Session } from './cli.mjs';
import { pythonVariables } from './python-client.mjs';

/** Of a start on a busy machine. */
const START_TIMEOUT_MS = 240_000;
const PROGRAMS = ['munged', 'slurmctld', 'slurmd', 'srun', 'sinfo', 'scancel', 'squeue'];
const SBIN = '/usr/sbin:/sbin';

/** Why there can be no Slurm here; null where there can. */
export function findSlurmObstacle(): string | null {
  const path = `${process.env.PATH ?? ''}:${SBIN}`;
  const missing = PROGRAMS.filter((program) => {
    try {
      execFileSync('sh', ['-c', `command -v ${program}`], { env: { PATH: path }, stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
  if (missing.length === 0) return null;
  return `there is no ${missing.join(', ')} (Debian: apt install slurmctld slurmd slurm-client munge)`;
}

/** A Slurm of two nodes on this machine, and the torch worker in it, with a rank on each: a job that is started again when it ends. */
export class SlurmCluster implements ClusteredWorker {
  private isStopping = false;
  private job: Session | null = null;
  private jobs: Promise<void> = Promise.resolve();

  private constructor(
    private readonly directory: string,
    private readonly daemons: readonly Session[],
    private readonly environment: Readonly<Record<string, string>>,
    readonly section: ClusteredWorker['section'],
  ) {}

  /** @param python that has torch */
  static async start(python: string): Promise<SlurmCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'slurm-'));
    const ports = await Promise.all(Array.from({ length: 5 }, () => findFreePort()));
    const environment = await writeConfig(directory, ports);
    const daemons = startDaemons(directory, environment);
    const tokenFile = join(directory, 'token');
    await writeFile(tokenFile, 'a token of the tests');
    const section = { kind: 'torch', url: `http://127.0.0.1:${ports[3]}`, tokenFile } as const;
    const cluster = new SlurmCluster(directory, daemons, environment, section);
    try {
      await cluster.untilIdle();
      cluster.jobs = cluster.runJobs([
        ...['srun', '--nodes', '2', '--ntasks-per-node', '1', python, '-m', 'torch.distributed.run'],
        ...['--nnodes', '2', '--nproc-per-node', '1', '--rdzv-backend', 'c10d'],
        ...['--rdzv-endpoint', `127.0.0.1:${ports[4]}`, '-m', 'retrace.engine'],
        ...['--host', '127.0.0.1', '--port', `${ports[3]}`, '--token-file', tokenFile],
      ]);
      await cluster.job?.waitFor(/"event": ?"ready"/, START_TIMEOUT_MS);
    } catch (error) {
      // Why it did not start matters more than why it does not stop.
      await cluster.stop().catch(() => undefined);
      throw error;
    }
    return cluster;
  }

  get ranks(): readonly number[] {
    const pids: number[] = [];
    for (const pid of runningPids().filter(isWorker)) {
      const [command, variables] = ['cmdline', 'environ'].map((file) =>
        readFileSync(`/proc/${pid}/${file}`, 'utf8'),
      );
      const rank = /(?:^|\0)RANK=(\d+)/.exec(variables)?.[1];
      if (command.includes(this.section.tokenFile) && rank !== undefined) pids[Number(rank)] = pid;
    }
    return pids;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    try {
      // It would ask for another job.
      await this.job?.killTree();
      await this.jobs;
      // A node that is stopped before its job leaves the job's steps behind.
      if (this.job !== null) await this.untilNoJobs();
    } finally {
      // The controller last: nodes tell it of their end.
      for (const daemon of this.daemons.toReversed()) await daemon.killTree();
      for (const pid of this.ranks) process.kill(pid, 'SIGKILL');
      await rm(this.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
    }
  }

  private untilIdle(): Promise<void> {
    return this.until(
      'there are not two idle nodes',
      () => this.run(['sinfo', '--noheader', '-o', '%T %D']) === 'idle 2',
    );
  }

  /** Cancels all jobs until there is none: one that was asked for may come into the queue late. */
  private untilNoJobs(): Promise<void> {
    return this.until('a job does not end', () => {
      this.run(['scancel', '--user', userInfo().username]);
      return this.run(['squeue', '--noheader']) === '';
    });
  }

  /** @param fault for the error where it never holds */
  private async until(fault: string, holds: () => boolean): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    for (;;) {
      try {
        if (holds()) return;
      } catch {
        // The controller is not there yet.
      }
      if (performance.now() > deadline) {
        const said = this.daemons.flatMap(({ lines }) => lines.slice(-5)).join(' | ');
        throw new Error(`Slurm: ${fault}; its daemons said: ${said}`);
      }
      await sleep(250);
    }
  }

  private run([program, ...args]: readonly string[]): string {
    const env = { ...process.env, ...this.environment };
    return execFileSync(program, args, { env, stdio: 'pipe' }).toString().trim();
  }

  private async runJobs([program, ...args]: readonly string[]): Promise<void> {
    while (!this.isStopping) {
      this.job = new Session(program, args, this.environment);
      await this.job.ended;
    }
  }
}

/** Writes what the daemons read; returns the variables by which they and their clients find it. */
async function writeConfig(
  directory: string,
  [controllerPort, ...nodePorts]: readonly number[],
): Promise<Record<string, string>> {
  const [host, user] = [hostname().split('.')[0], userInfo().username];
  const munge = join(directory, 'munge');
  for (const made of [munge, join(directory, 'state')]) mkdirSync(made, { mode: 0o700 });
  await writeFile(join(munge, 'key'), randomBytes(128), { mode: 0o400 });
  const nodes = ['n1', 'n2'].map(
    (name, n) => `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${nodePorts[n]} CPUs=1`,
  );
  const config = [
    ...['ClusterName=test', `SlurmctldHost=${host}(127.0.0.1)`, `SlurmctldPort=${controllerPort}`],
    ...[`SlurmUser=${user}`, `SlurmdUser=${user}`, 'AuthType=auth/munge', 'MpiDefault=none'],
    ...[`AuthInfo=socket=${join(munge, 'socket')}`, `StateSaveLocation=${join(directory, 'state')}`],
    ...[`SlurmctldPidFile=${join(directory, 'ctld.pid')}`, `SlurmdPidFile=${join(directory, '%n.pid')}`],
    ...[
      `SlurmdSpoolDir=${join(directory, '%n')}`,
      'ProctrackType=proctrack/linuxproc',
      'TaskPlugin=task/none',
    ],
    ...['SelectType=select/linear', 'SchedulerType=sched/builtin', 'ReturnToService=2', ...nodes],
    'PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP',
  ];
  const path = join(directory, 'slurm.conf');
  await writeFile(path, `${config.join('\n')}\n`);
  const { PYTHONPATH = '' } = pythonVariables({});
  const PATH = `${process.env.PATH ?? ''}:${SBIN}`;
  return { SLURM_CONF: path, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1', OMP_NUM_THREADS: '1', PATH };
}

function startDaemons(directory: string, environment: Readonly<Record<string, string>>): Session[] {
  const munge = (name: string) => join(directory, 'munge', name);
  const files = ['socket', 'pid-file', 'log-file', 'seed-file', 'key-file'].map(
    (option) => `--${option}=${munge(option.replace('-file', ''))}`,
  );
  return [
    new Session('munged', ['--foreground', '--force', ...files], environment),
    new Session('slurmctld', ['-D'], environment),
    ...['n1', 'n2'].map((name) => new Session('slurmd', ['-D', '-N', name], environment)),
  ];
}
