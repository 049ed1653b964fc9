import { Module } from '@nestjs/common';
import { RunActivityReader } from './run-activity.js';
import { RunFactsReader } from './run-facts.js';
import { RunsAhead } from './runs-ahead.js';
import { RunsController } from './runs.controller.js';
import { RunTotalsReader } from './run-totals-reader.js';
import { RunsService } from './runs.service.js';

@Module({
  controllers: [RunsController],
  providers: [RunsService, RunActivityReader, RunFactsReader, RunTotalsReader, RunsAhead],
  exports: [RunFactsReader, RunTotalsReader],
})
export class RunsModule {}
