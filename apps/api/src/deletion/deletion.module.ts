import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module.js';
import { DeletionController } from './deletion.controller.js';
import { DeletionService } from './deletion.service.js';
import { RetentionController } from './retention.controller.js';
import { RetentionService } from './retention.service.js';

@Module({
  imports: [RunsModule],
  controllers: [DeletionController, RetentionController],
  providers: [DeletionService, RetentionService],
})
export class DeletionModule {}
