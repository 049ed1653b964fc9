import type { ServerResponse } from 'node:http';
import { Gauge, type Registry } from 'prom-client';

/** Gauges by their names without the prefix: what each says, and how it is read. */
export type Gauges = Readonly<Record<string, readonly [help: string, read: () => number]>>;

/** Adds gauges that are read when somebody asks for the metrics. */
export function addGauges(registry: Registry, prefix: string, gauges: Gauges): void {
  for (const [name, [help, read]] of Object.entries(gauges)) {
    new Gauge({
      name: `${prefix}_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }
}

/** Answers with the metrics in Prometheus' text format. */
export async function sendMetrics(client: ServerResponse, registry: Registry): Promise<void> {
  client.setHeader('content-type', registry.contentType);
  client.end(await registry.metrics());
}
