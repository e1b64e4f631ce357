import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { mcpRequirements } from './requirements-mcp.ts';
import { restRequirements } from './requirements.ts';

const root = path.join(import.meta.dirname, '..');
const requirements = [...restRequirements, ...mcpRequirements];
const areas = new Set(requirements.map(({ id }) => id.split('.')[0]));

/** The citations in comments directly above a test or suite: `// Requirements: area.…, area.….` */
function citationsIn(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  const comments = text.matchAll(
    /^[ \t]*\/\/ Requirements: (.*\n(?:[ \t]*\/\/.*\n)*)[ \t]*(?:await )?(?:t\.)?(?:test|describe|on(?:Every|One)Database)\(/gm,
  );
  return [...comments]
    .flatMap(([, list = '']) => list.split(/[\s,/]+/))
    .map((word) => word.replace(/\.$/, ''))
    .filter((word) => areas.has(word.split('.')[0]) && word.includes('.'));
}

const cited = new Set(
  globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root }).flatMap(citationsIn),
);

function isCitedBy(citation: string, id: string): boolean {
  // Only tables of fields may be cited whole: one literal answer proves all of their rows.
  return citation.endsWith('.*')
    ? id.startsWith('rest.fields.') && id.startsWith(citation.slice(0, -1))
    : id === citation;
}

test('no two requirements have the same id', () => {
  const ids = requirements.map(({ id }) => id);
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
});

test('every requirement of the contract is cited by a test', () => {
  const uncited = requirements.filter(({ id }) => ![...cited].some((each) => isCitedBy(each, id)));
  assert.deepEqual(
    uncited.map(({ id, text }) => `${id}: ${text}`),
    [],
  );
});

test('every citation names a requirement', () => {
  const unknown = [...cited].filter((each) => !requirements.some(({ id }) => isCitedBy(each, id)));
  assert.deepEqual(unknown, []);
});
