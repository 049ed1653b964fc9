import { Module } from '@nestjs/common';
import { SinkService } from './sink.service.js';

@Module({ providers: [SinkService], exports: [SinkService] })
export class SinkModule {}
