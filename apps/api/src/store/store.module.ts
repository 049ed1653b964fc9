import { Global, Module } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import { ApiConfig } from '../config/api-config.js';
import { EVENT_LOG } from '../log/log.module.js';
import { ControlChanges } from './control-changes.js';
import { RunStarts } from './run-starts.js';
import { StoreService } from './store.service.js';

@Global()
@Module({
  providers: [
    {
      provide: ControlChanges,
      inject: [ApiConfig, StoreService, { token: EVENT_LOG, optional: true }],
      // A store that takes several logs has runs of which this one says nothing.
      useFactory: ({ acceptsOtherLog }: ApiConfig, store: StoreService, log: EventLog | null = null) =>
        new ControlChanges(acceptsOtherLog ? null : log, store),
    },
    RunStarts,
    StoreService,
  ],
  exports: [ControlChanges, RunStarts, StoreService],
})
export class StoreModule {}
