import { Module } from '@nestjs/common';
import { LiveModule } from '../live/live.module.js';
import { SinkModule } from '../sink/sink.module.js';
import { PrometheusController } from './prometheus.controller.js';
import { PrometheusService } from './prometheus.service.js';

@Module({
  imports: [SinkModule, LiveModule],
  controllers: [PrometheusController],
  providers: [PrometheusService],
})
export class PrometheusModule {}
