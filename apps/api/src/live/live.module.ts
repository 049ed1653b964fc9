import { Module } from '@nestjs/common';
import { LiveController } from './live.controller.js';
import { LiveFeed } from './live-feed.js';
import { LiveService } from './live.service.js';

@Module({ controllers: [LiveController], providers: [LiveFeed, LiveService], exports: [LiveService] })
export class LiveModule {}
