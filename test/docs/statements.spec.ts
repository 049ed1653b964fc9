import { expect, it } from 'vitest';
import { statementsOf } from './statements.mjs';

it('statements of a block: what bash reads as one stays whole, and comments are none', () => {
  const statements = [
    'API=http://127.0.0.1:8787',
    'curl -s $API/api/runs/<run>/what-ifs/<whatIfId>   # status',
    'curl -s $API --data-binary @- <<\'RECORDS\'\n{"a": 1}\n\n# no comment\nRECORDS',
    'retrace train \\\n  --updates 2',
    'retrace sql "SELECT 1\n  FROM runs"',
    'for i in 1 2; do\n  echo $i\ndone',
  ];
  expect(statementsOf(`# a comment\n\n${statements.join('\n')}\n`)).toEqual(statements);
});

it('statements of a block that bash does not understand are refused', () => {
  expect(() => statementsOf('echo "open\n')).toThrow('bash does not understand');
});
