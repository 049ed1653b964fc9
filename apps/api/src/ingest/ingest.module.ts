import { Module } from '@nestjs/common';
import { ApiConfig } from '../config/api-config.js';
import { IngestController } from './ingest.controller.js';
import { OutsideUpdatesController } from './outside-updates.controller.js';
import { RecordingService } from './recording.service.js';
import { Redaction } from './redaction.js';

@Module({
  controllers: [IngestController, OutsideUpdatesController],
  providers: [
    RecordingService,
    { provide: Redaction, useFactory: (config: ApiConfig) => Redaction.load(config), inject: [ApiConfig] },
  ],
  exports: [Redaction, RecordingService],
})
export class IngestModule {}
