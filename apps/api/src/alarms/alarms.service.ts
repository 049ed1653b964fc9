import { join } from 'node:path';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import { ApiConfig } from '../config/api-config.js';
import { InjectEventLog } from '../log/log.module.js';
import { StoreService } from '../store/store.service.js';
import type { Alarm } from './alarm.js';
import { AlarmDelivery } from './alarm-delivery.js';
import { alertmanagerReceiver, webhookReceiver, type AlarmContext } from './alarm-receiver.js';
import { DeliveredPosition } from './delivered-position.js';

const NAME_TIMEOUT_MS = 2_000;

/** Sends alarms to the receivers that the environment names. */
@Injectable()
export class AlarmsService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('alarms');
  private deliveries: readonly AlarmDelivery[] = [];

  constructor(
    private readonly config: ApiConfig,
    private readonly store: StoreService,
    @InjectEventLog() private readonly log: EventLog,
  ) {}

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

  private async contextOf({ runId }: Alarm, signal: AbortSignal): Promise<AlarmContext> {
    if (runId === null) return { runName: null, page: null };
    const { pageUrl } = this.config.alarms;
    return {
      runName: await this.nameOf(runId, signal),
      page: pageUrl === null ? null : `${pageUrl.replace(/\/$/, '')}/runs/${runId}`,
    };
  }

  /** An alarm does not wait long for a store that is not there. */
  private async nameOf(runId: string, signal: AbortSignal): Promise<string | null> {
    try {
      const rows = await this.store.reader.queryRows<{ readonly name: string }>(
        'SELECT name FROM runs WHERE run_id = {runId:String}',
        { params: { runId }, signal: AbortSignal.any([signal, AbortSignal.timeout(NAME_TIMEOUT_MS)]) },
      );
      return rows.length === 0 ? null : rows[0].name;
    } catch {
      return null;
    }
  }
}
