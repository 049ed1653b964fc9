import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { SinkModule } from '../sink/sink.module.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { ProbesController } from './probes.controller.js';
import { SinkHealthIndicator } from './sink-health.js';
import { StoreHealthIndicator } from './store-health.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false }), SinkModule],
  controllers: [HealthController, ProbesController],
  providers: [HealthService, StoreHealthIndicator, SinkHealthIndicator],
})
export class HealthModule {}
