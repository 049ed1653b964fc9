import { Module } from '@nestjs/common';
import { ValidationTasksService } from './validation-tasks.service.js';
import { ValidationsController } from './validations.controller.js';
import { ValidationsService } from './validations.service.js';

@Module({ controllers: [ValidationsController], providers: [ValidationsService, ValidationTasksService] })
export class ValidationsModule {}
