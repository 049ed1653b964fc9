import { Global, Module } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import { EVENT_LOG } from '../log/log.module.js';
import { ControlChanges } from './control-changes.js';
import { RunStarts } from './run-starts.js';
import { StoreService } from './store.service.js';

@Global()
@Module({
  providers: [
    {
      provide: ControlChanges,
      inject: [StoreService, { token: EVENT_LOG, optional: true }],
      useFactory: (store: StoreService, log: EventLog | null = null) => new ControlChanges(log, store),
    },
    RunStarts,
    StoreService,
  ],
  exports: [ControlChanges, RunStarts, StoreService],
})
export class StoreModule {}
