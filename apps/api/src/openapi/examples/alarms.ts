import type { Examples } from './example.js';

const RUN_ID = '01a21e00-8784-7a0c-9f40-73f68bc3586f';

const SILENCE = {
  runId: '',
  runName: '',
  rule: 'trainedOnNothing',
  note: 'the judge is being replaced',
  source: 'laptop',
  silencedAt: '2026-11-27T17:20:00.000000Z',
  until: '2026-11-27T18:20:00.000000Z',
};

/** Examples of alarms. */
export const ALARM_EXAMPLES: Examples = {
  'GET /api/alarms': {
    response: {
      items: [
        {
          runId: RUN_ID,
          runName: 'frozen-lake-ppo',
          source: 'trainer',
          rule: 'trainedOnNothing',
          message: 'update 3 learned from nothing: every advantage is 0',
          step: 3,
          advice: 'look at the rewards of these episodes',
          episodeIds: ['01a21e00-8784-8000-800b-fe8667fbbde5'],
          numTimes: 2,
          firstRaisedAt: '2026-11-27T17:15:04.120000Z',
          lastRaisedAt: '2026-11-27T17:15:09.526000Z',
          acknowledgement: {
            note: 'the judge was down',
            source: 'laptop',
            acknowledgedAt: '2026-11-27T17:18:30.004000Z',
          },
          silence: SILENCE,
        },
      ],
      nextCursor: null,
    },
  },
  'POST /api/alarms/acknowledgements': {
    request: {
      runId: RUN_ID,
      alarmSource: 'trainer',
      rule: 'trainedOnNothing',
      note: 'the judge was down',
    },
    response: { runId: RUN_ID },
  },
  'GET /api/alarms/silences': { response: { items: [SILENCE], nextCursor: null } },
  'POST /api/alarms/silences': {
    request: { rule: 'trainedOnNothing', until: '1h', note: 'the judge is being replaced' },
    response: { until: SILENCE.until },
  },
};
