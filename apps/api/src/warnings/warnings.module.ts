import { Module } from '@nestjs/common';
import { WarningsController } from './warnings.controller.js';
import { WarningsService } from './warnings.service.js';

@Module({ controllers: [WarningsController], providers: [WarningsService] })
export class WarningsModule {}
