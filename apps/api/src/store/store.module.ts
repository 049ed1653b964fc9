import { Global, Module } from '@nestjs/common';
import { RunStarts } from './run-starts.js';
import { StoreService } from './store.service.js';

@Global()
@Module({ providers: [RunStarts, StoreService], exports: [RunStarts, StoreService] })
export class StoreModule {}
