import { Module } from '@nestjs/common';
import { IngestModule } from '../ingest/ingest.module.js';
import { LiveModule } from '../live/live.module.js';
import { SinkModule } from '../sink/sink.module.js';
import { TracesModule } from '../traces/traces.module.js';
import { PrometheusController } from './prometheus.controller.js';
import { PrometheusService } from './prometheus.service.js';

@Module({
  imports: [SinkModule, LiveModule, IngestModule, TracesModule],
  controllers: [PrometheusController],
  providers: [PrometheusService],
})
export class PrometheusModule {}
