import { Module } from '@nestjs/common';
import { RunActivityReader } from './run-activity.js';
import { RunsController } from './runs.controller.js';
import { RunTotalsService } from './run-totals.service.js';
import { RunsService } from './runs.service.js';

@Module({ controllers: [RunsController], providers: [RunsService, RunActivityReader, RunTotalsService] })
export class RunsModule {}
