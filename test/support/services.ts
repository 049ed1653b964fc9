import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from '@retrace/process';
import type { StartedBroker } from '@retrace/log/kafka-broker';
import { findFreePort } from '@retrace/process/free-port';
import { makeDataDirectory, runRetrace, startRetrace, type Session } from './cli.mjs';

export interface VerifyReport {
  readonly ok: boolean;
  readonly numFaults: number;
  readonly numPending: number;
  readonly numDeadLetters: number;
  readonly numConflicts: number;
  readonly numDeletedRecords: number;
}

/** Roles, each started by its own command, on a broker and on `retrace store` in place of a ClickHouse server. */
export class ServiceRoles {
  private readonly sessions: Session[] = [];

  private constructor(
    /** Environment variables that name log and store to every role. */
    readonly environment: Readonly<Record<string, string>>,
    private readonly remove: () => void,
  ) {}

  static async start({ addresses }: StartedBroker): Promise<ServiceRoles> {
    const data = makeDataDirectory();
    const port = await findFreePort();
    const storeDirectory = join(data.path, 'store');
    const store = startRetrace(['store', '--port', String(port), '--data-dir', storeDirectory]);
    await store.waitFor(/http:\/\/127\.0\.0\.1:\d+/);
    const credentials = JSON.parse(
      readFileSync(join(storeDirectory, 'credentials.json'), 'utf8'),
    ) as Credentials;
    const shared = join(data.path, 'shared');
    mkdirSync(shared);
    const environment = {
      RETRACE_KAFKA_BROKERS: addresses.plaintext,
      RETRACE_KAFKA_PARTITIONS: '3',
      RETRACE_STORE_URL: `http://127.0.0.1:${port}`,
      RETRACE_STORE_USER: credentials.user,
      RETRACE_STORE_PASSWORD: credentials.password,
      RETRACE_STORE_READONLY_USER: credentials.readonlyUser,
      RETRACE_STORE_READONLY_PASSWORD: credentials.readonlyPassword,
      RETRACE_DATA_DIR: shared,
    };
    const roles = new ServiceRoles(environment, () => {
      data.remove();
    });
    roles.sessions.push(store);
    return roles;
  }

  /** Starts a role, which is stopped with the others by `close`. */
  role(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Session {
    const session = startRetrace(args, { ...this.environment, ...environment });
    this.sessions.push(session);
    return session;
  }

  /** Resolves with the exit code of a role; throws with the last lines of all roles when it does not exit in time. */
  async finish({ ended }: Session, withinMs: number): Promise<number | string> {
    const stop = new AbortController();
    const late = sleep(withinMs, null, { signal: stop.signal }).catch(() => null);
    const code = await Promise.race([ended, late]);
    stop.abort();
    if (code !== null) return code;
    const said = this.sessions.map(
      ({ child, lines }) => `${child.spawnargs.slice(2).join(' ')}:\n${lines.slice(-25).join('\n')}`,
    );
    throw new Error(
      `A role did not exit within ${withinMs / 1000} s; the last lines were:\n${said.join('\n\n')}`,
    );
  }

  /** Runs a command until it exits. */
  run(args: readonly string[]): ReturnType<typeof runRetrace> {
    return runRetrace(args, { environment: this.environment });
  }

  async sql(statement: string): Promise<unknown> {
    const { stdout, stderr } = await this.run(['sql', statement, '--json']);
    if (stderr !== '') throw new Error(stderr);
    return JSON.parse(stdout);
  }

  /** Returns the report of `retrace verify` once the sinks have brought everything. */
  async verify(): Promise<{ readonly code: number | null; readonly report: VerifyReport }> {
    for (let attempt = 0; ; attempt += 1) {
      const { code, stdout, stderr } = await this.run(['verify', '--json']);
      if (stderr !== '') throw new Error(stderr);
      const report = JSON.parse(stdout) as VerifyReport;
      if (report.numPending === 0 || attempt === 10) return { code, report };
      await sleep(500);
    }
  }

  async stop(): Promise<void> {
    for (const session of this.sessions.splice(0).reverse()) {
      if (session.child.exitCode === null && session.child.signalCode === null) await session.stop('SIGTERM');
    }
    this.remove();
  }
}
