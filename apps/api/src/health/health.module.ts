import { Module } from '@nestjs/common';
import { SinkModule } from '../sink/sink.module.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';

@Module({ imports: [SinkModule], controllers: [HealthController], providers: [HealthService] })
export class HealthModule {}
