import { Module } from '@nestjs/common';
import { SqlModule } from '../sql/sql.module.js';
import { UpdateQuestionsModule } from '../update-questions/update-questions.module.js';
import { BatchCheck } from './batch-check.js';
import { BatchesController } from './batches.controller.js';
import { BatchesService } from './batches.service.js';
import { DrawnGroups } from './drawn-groups.js';

@Module({
  imports: [UpdateQuestionsModule, SqlModule],
  controllers: [BatchesController],
  providers: [BatchesService, BatchCheck, DrawnGroups],
})
export class BatchesModule {}
