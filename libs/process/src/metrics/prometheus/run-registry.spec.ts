import { ControlFold, type AnyEvent, type ControlEventKind, type PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { MetricsServer } from './metrics-server.js';
import { RunRegistry } from './run-registry.js';

const RUN = '01936d00-0000-7000-8000-00000000000a';
const servers: MetricsServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(registry: RunRegistry): Promise<MetricsServer> {
  const server = await MetricsServer.start({ host: '127.0.0.1', port: 0 }, registry.registry);
  servers.push(server);
  return server;
}

function recordedRun(): ControlFold {
  const fold = new ControlFold();
  const append = <K extends ControlEventKind>(kind: K, payload: Partial<PayloadOf<K>>) =>
    fold.apply(controlEvent({ logId: '', runId: RUN }, kind, payload) as AnyEvent, fold.nextOffset);
  append('RunStarted', {});
  append('TrainerClaimed', { epoch: 0 });
  append('BatchPlanned', { planId: 'a', updateNumber: 1, epoch: 0, groupIds: [] });
  append('UpdateApplied', { planId: 'a', updateNumber: 1, epoch: 0, policyVersionOut: 1 });
  const names = ['train/loss', 'train/kl'];
  append('MetricsLogged', { source: 'trainer', step: 1, names, values: Float64Array.of(0.5, NaN) });
  append('MetricsLogged', {
    source: 'collector',
    step: 1,
    names: ['rollout/success'],
    values: Float64Array.of(1),
  });
  return fold;
}

describe('Prometheus endpoint of a process that works on a run', () => {
  it('serves the newest metrics that the process logs, by name, and how far the run is', async () => {
    const fold = recordedRun();
    const run = () => fold.run(RUN) ?? null;
    const { url } = await serve(new RunRegistry({ runId: RUN, role: 'trainer', sources: ['trainer'], run }));
    const response = await fetch(url);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const lines = (await response.text()).split('\n');
    const labels = `run="${RUN}",role="trainer"`;
    expect(lines).toContain(`retrace_run_metric{name="train/loss",source="trainer",${labels}} 0.5`);
    expect(lines).toContain(`retrace_run_updates_total{${labels}} 1`);
    expect(lines).toContain(`retrace_run_ended{${labels}} 0`);
    expect(lines.filter((line) => line.startsWith('retrace_run_metric{'))).toHaveLength(1);
    expect(lines.some((line) => line.startsWith(`process_resident_memory_bytes{${labels}}`))).toBe(true);
  });

  it('serves nothing but /metrics, and says so', async () => {
    const { url } = await serve(
      new RunRegistry({ runId: RUN, role: 'trainer', sources: [], run: () => null }),
    );
    const other = await fetch(new URL('/', url));
    expect([other.status, await other.text()]).toEqual([404, 'Not found: only GET /metrics is served\n']);
    expect((await fetch(url, { method: 'POST' })).status).toBe(404);
  });

  it('names the address that is taken', async () => {
    const registry = new RunRegistry({ runId: RUN, role: 'trainer', sources: [], run: () => null });
    const port = Number(new URL((await serve(registry)).url).port);
    await expect(MetricsServer.start({ host: '127.0.0.1', port }, registry.registry)).rejects.toThrow(
      `metrics can't be served at 127.0.0.1:${port} (EADDRINUSE)`,
    );
  });
});
