import { Module } from '@nestjs/common';
import { TokenTexts } from './token-texts.js';

@Module({ providers: [TokenTexts], exports: [TokenTexts] })
export class TokensModule {}
