import { Module } from '@nestjs/common';
import { KeysModule } from '../keys/keys.module.js';
import { LiveController } from './live.controller.js';
import { LiveFeed } from './live-feed.js';
import { LiveService } from './live.service.js';

@Module({
  imports: [KeysModule],
  controllers: [LiveController],
  providers: [LiveFeed, LiveService],
  exports: [LiveService],
})
export class LiveModule {}
