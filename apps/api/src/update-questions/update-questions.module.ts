import { Module } from '@nestjs/common';
import { AskedRun } from './asked-run.js';
import { QuestionQueue } from './question-queue.js';
import { RecipeChangesCheck } from './recipe-changes-check.js';

@Module({
  providers: [QuestionQueue, AskedRun, RecipeChangesCheck],
  exports: [QuestionQueue, AskedRun, RecipeChangesCheck],
})
export class UpdateQuestionsModule {}
