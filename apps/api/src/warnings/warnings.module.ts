import { Module } from '@nestjs/common';
import { AlarmsController } from './alarms.controller.js';
import { WarningsController } from './warnings.controller.js';
import { WarningsService } from './warnings.service.js';

@Module({ controllers: [AlarmsController, WarningsController], providers: [WarningsService] })
export class WarningsModule {}
