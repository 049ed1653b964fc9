import { once } from 'node:events';
import { join } from 'node:path';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import { StoredPosition } from '@retrace/store';
import { ApiConfig } from '../config/api-config.js';
import { InjectEventLog } from '../log/log.module.js';
import { StoreService } from '../store/store.service.js';
import { AlarmDelivery, type LoggedAlarm } from './alarm-delivery.js';
import { alertmanagerReceiver, webhookReceiver, type AlarmContext } from './alarm-receiver.js';
import { type AlarmStanding, readStanding, UNHANDLED } from './alarm-standing.js';
import { DeliveredPosition } from './delivered-position.js';

const STORE_TIMEOUT_MS = 10_000;

/** Sends alarms to the receivers that the environment names. */
@Injectable()
export class AlarmsService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('alarms');
  private deliveries: readonly AlarmDelivery[] = [];
  private stored: StoredPosition | null = null;

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

  /** An alarm does not wait long for a store that is not there: it is then sent, whatever people did about it. */
  private async contextOf(alarm: LoggedAlarm, stopping: AbortSignal): Promise<AlarmContext> {
    const { runId } = alarm;
    const { pageUrl } = this.config.alarms;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(STORE_TIMEOUT_MS)]);
    const [standing, runName] = await Promise.all([
      this.standingOf(alarm, signal),
      runId === '' ? null : this.nameOf(runId, signal),
    ]);
    const page = runId === '' || pageUrl === null ? null : `${pageUrl.replace(/\/$/, '')}/runs/${runId}`;
    return { ...standing, runName, page };
  }

  private async standingOf(alarm: LoggedAlarm, signal: AbortSignal): Promise<AlarmStanding> {
    const { log } = this;
    try {
      this.stored ??= new StoredPosition(log, this.store.now, { stream: 'control', partition: 0 });
      const isStored = this.stored.reaches(alarm.offset + 1, STORE_TIMEOUT_MS);
      if (!(await Promise.race([isStored, once(signal, 'abort').then(() => false)]))) return UNHANDLED;
      return await readStanding(this.store.reader, alarm, signal);
    } catch {
      return UNHANDLED;
    }
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
