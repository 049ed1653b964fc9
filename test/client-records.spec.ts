import type * as client from '@retrace/client';
import type {
  EndRunRequest,
  StartRunRequest,
  WireAnnotation,
  WireEnd,
  WireEpisode,
  WireMessage,
  WireReward,
  WireSampling,
  WireStep,
  WireTokens,
  WireToolCall,
  WireUsage,
} from '@retrace/recording';
import type { Json } from '@retrace/trajectory';
import { describe, expectTypeOf, it } from 'vitest';

/** A client's `JsonValue` may have fields that are undefined, which JSON leaves out. */
type AsSent<Record> = { [K in keyof Record]: client.JsonValue extends Record[K] ? Json : Record[K] };

/** The client's type, where both have the same fields and the server takes whatever the client's type allows; else `never`. */
type Agreed<Client, Wire> = [AsSent<Client>] extends [Wire]
  ? [keyof Client] extends [keyof Wire]
    ? [keyof Wire] extends [keyof Client]
      ? Client
      : never
    : never
  : never;

// A published client imports nothing of Retrace, so it has its own types. The type checker (`npm run lint`) fails here where they differ.
describe('types of records in the TypeScript client', () => {
  it('are those of the server', () => {
    expectTypeOf<Agreed<client.EpisodeRecord, WireEpisode>>().not.toBeNever();
    expectTypeOf<Agreed<client.StepRecord, WireStep>>().not.toBeNever();
    expectTypeOf<Agreed<client.EndRecord, WireEnd>>().not.toBeNever();
    expectTypeOf<Agreed<client.RewardRecord, WireReward>>().not.toBeNever();
    expectTypeOf<Agreed<client.AnnotationRecord, WireAnnotation>>().not.toBeNever();
    expectTypeOf<Agreed<client.RunStart, StartRunRequest>>().not.toBeNever();
    expectTypeOf<Agreed<client.RunEnd, EndRunRequest>>().not.toBeNever();
  });

  it('are those of the server in their parts', () => {
    expectTypeOf<Agreed<client.ChatMessage, WireMessage>>().not.toBeNever();
    expectTypeOf<Agreed<client.ToolCall, WireToolCall>>().not.toBeNever();
    expectTypeOf<Agreed<client.StepTokens, WireTokens>>().not.toBeNever();
    expectTypeOf<Agreed<client.Sampling, WireSampling>>().not.toBeNever();
    expectTypeOf<Agreed<client.TokenUsage, WireUsage>>().not.toBeNever();
    expectTypeOf<
      Agreed<NonNullable<client.StepRecord['messages']>, NonNullable<WireStep['messages']>>
    >().not.toBeNever();
    expectTypeOf<
      Agreed<NonNullable<client.EndRecord['finalTokens']>, NonNullable<WireEnd['finalTokens']>>
    >().not.toBeNever();
  });
});
