import { Module } from '@nestjs/common';
import { RunQueueController } from './run-queue.controller.js';
import { RunQueueService } from './run-queue.service.js';

@Module({ controllers: [RunQueueController], providers: [RunQueueService] })
export class RunQueueModule {}
