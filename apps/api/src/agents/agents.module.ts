import { Module } from '@nestjs/common';
import { KeysModule } from '../keys/keys.module.js';
import { AgentsController } from './agents.controller.js';
import { AgentsService } from './agents.service.js';

@Module({ imports: [KeysModule], controllers: [AgentsController], providers: [AgentsService] })
export class AgentsModule {}
