import { Module } from '@nestjs/common';
import { RunActivityReader } from './run-activity.js';
import { RunsController } from './runs.controller.js';
import { RunTotalsReader } from './run-totals-reader.js';
import { RunsService } from './runs.service.js';

@Module({
  controllers: [RunsController],
  providers: [RunsService, RunActivityReader, RunTotalsReader],
  exports: [RunTotalsReader],
})
export class RunsModule {}
