import { Module } from '@nestjs/common';
import { UpdateLineageService } from './update-lineage.service.js';
import { UpdatesController } from './updates.controller.js';
import { UpdatesService } from './updates.service.js';

@Module({ controllers: [UpdatesController], providers: [UpdatesService, UpdateLineageService] })
export class UpdatesModule {}
