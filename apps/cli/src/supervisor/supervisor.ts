import type { CliError } from '../cli-error.js';
import type { LogStream } from './log-stream.js';
import { Role, type RoleDefinition } from './role.js';
import type { ReadyMessage } from './role-process.js';

interface SupervisorOptions {
  readonly log: LogStream;
  /** Inherited by every child; see `FileLock`. */
  readonly lockFileDescriptors: readonly number[];
  /** Whether others work that need none of these roles: while they do, each is started again however it ends (default: nobody does). */
  readonly othersGoOn?: () => boolean;
}

/** The process tree of one data directory. Roles are started in order of dependency and stopped in the reverse order. */
export class Supervisor {
  /** Resolves with the reason once a role has failed permanently. */
  readonly failure: Promise<CliError>;
  private readonly roles: Role[] = [];
  private settleFailure!: (error: CliError) => void;
  private isStopping = false;

  constructor(private readonly options: SupervisorOptions) {
    this.failure = new Promise((resolve) => {
      this.settleFailure = resolve;
    });
  }

  /**
   * Starts a role and waits until it is ready.
   *
   * @throws CliError `ROLE_FAILED`
   */
  start(definition: RoleDefinition): Promise<ReadyMessage> {
    const role: Role = new Role(definition, {
      ...this.options,
      othersWork: () =>
        definition.group !== undefined &&
        this.roles.some((other) => other !== role && other.group === definition.group && other.works),
      onFailed: (error) => {
        this.settleFailure(error);
      },
    });
    this.roles.push(role);
    return role.start();
  }

  /** Resolves when the last process of the role has ended. */
  async whenEnded(name: string): Promise<void> {
    await this.roles.find((role) => role.name === name)?.whenEnded();
  }

  pids(): Readonly<Record<string, number | undefined>> {
    return Object.fromEntries(this.roles.map((role) => [role.name, role.pid]));
  }

  /** Stops one role after the other, in the reverse order of their start, and gives each its time to finish. */
  async stop(): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    for (const role of this.roles.toReversed()) await role.stop();
  }

  /** Kills all roles at once. Acknowledged events are in the log; the next start recovers the rest. */
  killAll(): void {
    for (const role of this.roles) role.kill();
  }
}
