import { Module } from '@nestjs/common';
import { TokensModule } from '../tokens/tokens.module.js';
import { BranchService } from './branch.service.js';
import { EpisodeListService } from './episode-list.service.js';
import { EpisodeService } from './episode.service.js';
import { ForkService } from './fork.service.js';
import { EpisodesController } from './episodes.controller.js';

@Module({
  imports: [TokensModule],
  controllers: [EpisodesController],
  providers: [BranchService, EpisodeListService, EpisodeService, ForkService],
})
export class EpisodesModule {}
