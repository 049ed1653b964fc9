import { Module } from '@nestjs/common';
import { AgentsController } from './agents.controller.js';
import { AgentsService } from './agents.service.js';

@Module({ controllers: [AgentsController], providers: [AgentsService] })
export class AgentsModule {}
