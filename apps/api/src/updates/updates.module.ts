import { Module } from '@nestjs/common';
import { UpdateInputsService } from './update-inputs.service.js';
import { UpdateLineageService } from './update-lineage.service.js';
import { UpdatesController } from './updates.controller.js';
import { UpdatesService } from './updates.service.js';

@Module({
  controllers: [UpdatesController],
  providers: [UpdatesService, UpdateInputsService, UpdateLineageService],
})
export class UpdatesModule {}
