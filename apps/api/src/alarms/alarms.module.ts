import { Module } from '@nestjs/common';
import { IngestModule } from '../ingest/ingest.module.js';
import { KeysModule } from '../keys/keys.module.js';
import { AlarmsController } from './alarms.controller.js';
import { AlarmsService } from './alarms.service.js';

@Module({ imports: [IngestModule, KeysModule], controllers: [AlarmsController], providers: [AlarmsService] })
export class AlarmsModule {}
