import { join } from 'node:path';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import type { Alarm } from '@retrace/trajectory';
import { ApiConfig } from '../config/api-config.js';
import { InjectEventLog } from '../log/log.module.js';
import { StoreService } from '../store/store.service.js';
import { AlarmDelivery } from './alarm-delivery.js';
import { alertmanagerReceiver, webhookReceiver, type AlarmContext } from './alarm-receiver.js';
import { AlarmStandings } from './alarm-standing.js';
import { DeliveredPosition } from './delivered-position.js';

/** Where the store has answered what people did, it tells the name of a run at once; an alarm is sent without it otherwise. */
const NAME_TIMEOUT_MS = 2_000;

/** Sends alarms to the receivers that the environment names. */
@Injectable()
export class AlarmsService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('alarms');
  private deliveries: readonly AlarmDelivery[] = [];
  private readonly standings: AlarmStandings;

  constructor(
    private readonly config: ApiConfig,
    private readonly store: StoreService,
    @InjectEventLog() private readonly log: EventLog,
  ) {
    this.standings = new AlarmStandings({ log, store });
  }

  async onApplicationBootstrap(): Promise<void> {
    const { webhookUrl, alertmanagerUrl, directory } = this.config.alarms;
    const receivers = [
      ...(webhookUrl === null ? [] : [webhookReceiver(webhookUrl)]),
      ...(alertmanagerUrl === null ? [] : [alertmanagerReceiver(alertmanagerUrl)]),
    ];
    const warn = (message: string) => {
      this.logger.warn(message);
    };
    this.deliveries = receivers.map((receiver) => {
      const path = directory === null ? null : join(directory, `${receiver.name}.json`);
      return new AlarmDelivery({
        ...{ log: this.log, receiver },
        position: new DeliveredPosition(path, this.log.logId, warn),
        contextOf: (alarm, signal) => this.contextOf(alarm, signal),
        warn,
      });
    });
    for (const delivery of this.deliveries) await delivery.start();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.deliveries.map((delivery) => delivery.stop()));
  }

  private async contextOf(alarm: Alarm, stopping: AbortSignal): Promise<AlarmContext> {
    const { runId } = alarm;
    const { pageUrl } = this.config.alarms;
    const standing = await this.standings.of(alarm, stopping);
    // A store that was starting is there now.
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(NAME_TIMEOUT_MS)]);
    const runName = runId === '' ? null : await this.nameOf(runId, signal);
    const page = runId === '' || pageUrl === null ? null : `${pageUrl.replace(/\/$/, '')}/runs/${runId}`;
    return { ...standing, runName, page };
  }

  private async nameOf(runId: string, signal: AbortSignal): Promise<string | null> {
    try {
      const rows = await this.store.reader.queryRows<{ readonly name: string }>(
        'SELECT name FROM runs WHERE run_id = {runId:String}',
        { params: { runId }, signal },
      );
      return rows.length === 0 ? null : rows[0].name;
    } catch {
      return null;
    }
  }
}
