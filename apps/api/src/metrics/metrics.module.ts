import { Module } from '@nestjs/common';
import { KeptSeries } from './kept-series.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsService } from './metrics.service.js';

@Module({ controllers: [MetricsController], providers: [KeptSeries, MetricsService] })
export class MetricsModule {}
