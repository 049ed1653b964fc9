import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module.js';
import { AlarmListService } from './alarm-list.service.js';
import { AlarmListController } from './alarm-list.controller.js';
import { WarningsController } from './warnings.controller.js';
import { WarningsService } from './warnings.service.js';

@Module({
  imports: [RunsModule],
  controllers: [AlarmListController, WarningsController],
  providers: [AlarmListService, WarningsService],
})
export class WarningsModule {}
