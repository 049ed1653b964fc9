import { Global, Module } from '@nestjs/common';
import { ControlChanges } from './control-changes.js';
import { RunStarts } from './run-starts.js';
import { StoreService } from './store.service.js';

@Global()
@Module({
  providers: [ControlChanges, RunStarts, StoreService],
  exports: [ControlChanges, RunStarts, StoreService],
})
export class StoreModule {}
