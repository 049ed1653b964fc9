import { Module } from '@nestjs/common';
import { AskedRun } from './asked-run.js';
import { QuestionQueue } from './question-queue.js';

@Module({ providers: [QuestionQueue, AskedRun], exports: [QuestionQueue, AskedRun] })
export class UpdateQuestionsModule {}
