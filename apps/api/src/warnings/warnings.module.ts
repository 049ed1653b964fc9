import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module.js';
import { AlarmsController } from './alarms.controller.js';
import { WarningsController } from './warnings.controller.js';
import { WarningsService } from './warnings.service.js';

@Module({
  imports: [RunsModule],
  controllers: [AlarmsController, WarningsController],
  providers: [WarningsService],
})
export class WarningsModule {}
