import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiFixture } from '../apps/api/src/testing/api-fixture.js';
import { RunRecorder } from '../apps/api/src/testing/run-recorder.js';

/** The program of Debian's package and of the project's own downloads. */
const PROGRAM = ['prometheus-alertmanager', 'alertmanager'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);
const skipped = PROGRAM === undefined ? ' (skipped, because prometheus-alertmanager is not installed)' : '';

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly generatorURL: string;
  readonly status: { readonly state: string };
}

/** Ten times what it takes where nothing else runs. */
const READY_MS = 60_000;

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe.skipIf(PROGRAM === undefined)(`alarms in a real Alertmanager${skipped}`, () => {
  let directory: string;
  let alertmanager: ChildProcess;
  let url: string;
  let fixture: ApiFixture;
  let run: RunRecorder;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-alertmanager-'));
    const config = join(directory, 'alertmanager.yml');
    writeFileSync(config, 'route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n');
    url = `http://127.0.0.1:${await freePort()}`;
    alertmanager = spawn(
      PROGRAM ?? '',
      [
        ...[`--config.file=${config}`, `--storage.path=${join(directory, 'data')}`],
        ...[`--web.listen-address=${new URL(url).host}`, '--cluster.listen-address='],
      ],
      { stdio: 'ignore' },
    );
    await vi.waitUntil(() => isReady(url), { timeout: READY_MS, interval: 100 });
    fixture = await ApiFixture.start({
      RETRACE_ALERTMANAGER_URL: url,
      RETRACE_PAGE_URL: 'http://pages.example',
    });
    run = new RunRecorder(fixture.log);
    await run.start();
    await fixture.storeHasCaughtUp();
  });

  afterAll(async () => {
    await fixture?.close();
    alertmanager?.kill();
    rmSync(directory, { recursive: true });
  });

  const alerts = async (): Promise<readonly Alert[]> =>
    (await fetch(`${url}/api/v2/alerts`)).json() as Promise<readonly Alert[]>;

  it('fire with the labels of their run, once for an alarm that is raised twice, and are silenced there', async () => {
    const alarm = { severity: 'alarm', source: 'trainer', rule: 'entropyCollapse' } as const;
    await run.warn({ ...alarm, message: 'entropy is .01', numTimes: 1, step: 7 });
    await run.warn({ ...alarm, message: 'entropy is .001', numTimes: 2, step: 8 });
    await expect
      .poll(async () => (await alerts()).map(({ annotations }) => annotations.summary))
      .toEqual(['entropy is .001']);
    const [alert] = await alerts();
    expect(alert).toMatchObject({
      labels: {
        alertname: 'entropyCollapse',
        run_id: run.runId,
        severity: 'critical',
      },
      annotations: { step: '8', run: 'frozen-lake-ppo' },
      generatorURL: `http://pages.example/runs/${run.runId}`,
      status: { state: 'active' },
    });
    const response = await fetch(`${url}/api/v2/silences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        matchers: [{ name: 'run_id', value: run.runId, isRegex: false, isEqual: true }],
        startsAt: new Date().toISOString(),
        endsAt: new Date(Date.now() + 3_600_000).toISOString(),
        ...{ createdBy: 'test', comment: 'known' },
      }),
    });
    expect(response.status).toBe(200);
    await expect.poll(async () => (await alerts()).map(({ status }) => status.state)).toEqual(['suppressed']);
  });
});
