import { Global, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import { openLog } from '@retrace/log';
import { ApiConfig } from '../config/api-config.js';

/** Injects the event log: `@InjectEventLog() log: EventLog`. */
export const InjectEventLog = (): ParameterDecorator & PropertyDecorator => Inject(EVENT_LOG);

export const EVENT_LOG = Symbol('EventLog');

/** Closes the log last: what reads it has stopped in `onModuleDestroy`, and HTTP is closed by then. */
@Injectable()
class LogCloser implements OnApplicationShutdown {
  constructor(@InjectEventLog() private readonly log: EventLog) {}

  async onApplicationShutdown(): Promise<void> {
    await this.log.close();
  }
}

@Global()
@Module({
  providers: [
    {
      provide: EVENT_LOG,
      inject: [ApiConfig],
      useFactory: ({ log }: ApiConfig): Promise<EventLog> => openLog(log, 'api'),
    },
    LogCloser,
  ],
  exports: [EVENT_LOG],
})
export class LogModule {}
