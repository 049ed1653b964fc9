import { Module } from '@nestjs/common';
import { SqlController } from './sql.controller.js';
import { SqlService } from './sql.service.js';

@Module({ controllers: [SqlController], providers: [SqlService], exports: [SqlService] })
export class SqlModule {}
