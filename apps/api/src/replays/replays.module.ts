import { Module } from '@nestjs/common';
import { UpdateQuestionsModule } from '../update-questions/update-questions.module.js';
import { ReplaysController } from './replays.controller.js';
import { ReplaysService } from './replays.service.js';

@Module({
  imports: [UpdateQuestionsModule],
  controllers: [ReplaysController],
  providers: [ReplaysService],
})
export class ReplaysModule {}
