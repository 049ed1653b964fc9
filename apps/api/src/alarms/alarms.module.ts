import { Module } from '@nestjs/common';
import { AlarmsService } from './alarms.service.js';

@Module({ providers: [AlarmsService] })
export class AlarmsModule {}
