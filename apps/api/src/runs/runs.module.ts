import { Module } from '@nestjs/common';
import { RecordedFiguresReader } from './recorded-figures.js';
import { RunActivityReader } from './run-activity.js';
import { RunsController } from './runs.controller.js';
import { RunTotalsService } from './run-totals.service.js';
import { RunsService } from './runs.service.js';

@Module({
  controllers: [RunsController],
  providers: [RunsService, RunActivityReader, RecordedFiguresReader, RunTotalsService],
})
export class RunsModule {}
