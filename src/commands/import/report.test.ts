import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeCounts, RefusalReport } from './report.ts';

test('says whether an import without records had none, or was stopped before them', () => {
  assert.equal(describeCounts({}), 'There was nothing to import.');
  assert.equal(describeCounts({}, true), 'Nothing was imported yet.');
});

function reported(isTerminal: boolean, lines: readonly [number, string][]): string[] {
  const told: string[] = [];
  const report = new RefusalReport(isTerminal, (text) => told.push(text));
  for (const [line, reason] of lines) report.add('a.csv', line, reason);
  report.finish();
  return told;
}

const unknownPlans = (count: number) =>
  Array.from({ length: count }, (_, index): [number, string] => [
    index + 2,
    `plan ${index} is not known`,
  ]);

test('reports each refused line, except to a terminal', () => {
  assert.deepEqual(reported(false, unknownPlans(3)), [
    'a.csv:2: plan 0 is not known',
    'a.csv:3: plan 1 is not known',
    'a.csv:4: plan 2 is not known',
  ]);
});

test('tells a terminal a reason once, and how many more lines have it', () => {
  const frozen: [number, string] = [9, 'column Status: "frozen" is not in its table'];
  const thawed: [number, string] = [12, 'column Status: "thawed" is not in its table'];
  const name: [number, string] = [10, 'column Name is empty'];
  assert.deepEqual(reported(true, [...unknownPlans(1235), frozen, name, thawed]), [
    'a.csv:2: plan 0 is not known',
    'a.csv:9: column Status: "frozen" is not in its table',
    'a.csv:10: column Name is empty',
    '1,234 more lines were refused for the reason of a.csv:2.',
    '1 more line was refused for the reason of a.csv:9.',
  ]);
});

test('reports reasons beyond 200 together', () => {
  const reasons = Array.from({ length: 203 }, (_, index): [number, string] => [
    index + 1,
    `column ${'x'.repeat(index + 1)} is empty`,
  ]);
  const told = reported(true, reasons);
  assert.equal(told.length, 201);
  assert.equal(told.at(-1), '3 lines were refused for other reasons.');
});
