import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { marked } from 'marked';
import path from 'node:path';
import { describe, test } from 'node:test';
import { renderArticle } from '../../src/docs/markdown.ts';
import { migratedFolder, root, runProcess, throwawayFolder } from '../cli/process.ts';

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const documents = globSync(['*.md', 'docs/**/*.md', 'clients/*/README.md'], { cwd: root });

/** The anchors of a document's headings. */
function anchorsOf(markdown: string): string[] {
  const headings = marked.lexer(markdown).filter(({ type }) => type === 'heading');
  return renderArticle(headings.map(({ raw }) => raw).join('\n\n')).sections.map(({ id }) => id);
}

describe('the documents', () => {
  test('link only to files and headings that exist', () => {
    const known = new Map(documents.map((document) => [document, anchorsOf(read(document))]));
    const links = documents.flatMap((document) =>
      [...read(document).matchAll(/(?:\]\(|src=")([^)"\s]+)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^(?:[a-z]+:|\/)/.test(link))
        .map((link) => ({ document, link })),
    );
    assert.ok(links.length > 200, String(links.length));
    const dead = links.filter(({ document, link }) => {
      const [file = '', heading] = link.split('#');
      const target = file === '' ? document : path.join(path.dirname(document), file);
      if (!existsSync(path.join(root, target))) return true;
      return heading !== undefined && !known.get(target)?.includes(heading);
    });
    assert.deepEqual(dead, []);
  });

  test('name only tests that exist as the proof of a defence', () => {
    const text = readFileSync(path.join(root, 'docs/security.md'), 'utf8');
    const named = [...text.matchAll(/`((?:src|test)\/[\w/.-]+\.test\.ts)`/g)].map(
      ([, file]) => file,
    );
    assert.ok(named.length > 30, String(named.length));
    assert.deepEqual(
      named.filter((file) => !existsSync(path.join(root, file ?? ''))),
      [],
    );
  });

  test('name every page of docs/ in the README, but for the guides and decisions', () => {
    const pages = globSync('docs/*.md', { cwd: root });
    const readme = read('README.md');
    assert.deepEqual(
      pages.filter((page) => !readme.includes(`](${page})`)),
      [],
    );
  });
});

describe('the decisions', () => {
  const decisions = globSync('docs/decisions/*.md', { cwd: root }).toSorted();

  test('are numbered without holes, in their names and titles', () => {
    const numbers = decisions.map((_, index) => String(index + 1).padStart(4, '0'));
    assert.deepEqual(
      decisions.map((decision) => path.basename(decision).slice(0, 4)),
      numbers,
    );
    assert.deepEqual(
      decisions.map((decision) => /^# (\d{4}): \S/.exec(read(decision))?.[1]),
      numbers,
    );
  });

  test('have at most 250 words', () => {
    const long = decisions.filter((decision) => read(decision).trim().split(/\s+/).length > 250);
    assert.deepEqual(long, []);
  });

  test('are named by file wherever code and schema cite them', () => {
    const files = globSync(
      ['{src,test,bench,faults,cluster,release}/**/*.ts', 'migrations/**/*.sql'],
      { cwd: root },
    );
    const cited = files.flatMap((file) =>
      [...read(file).matchAll(/docs\/decisions\/[\w.-]*\w/g)].map(([citation]) => citation),
    );
    assert.ok(cited.length > 10, String(cited.length));
    assert.deepEqual(
      cited.filter((citation) => !decisions.includes(citation)),
      [],
    );
  });
});

describe('the README', () => {
  test('has less than 1,000 words', () => {
    const words = read('README.md').trim().split(/\s+/);
    assert.ok(words.length < 1000, String(words.length));
  });

  test('has commands that import the records it shows', async () => {
    const blocks = [...read('README.md').matchAll(/^```sh\n([^]*?)^```$/gm)];
    const [, script = ''] = blocks.find(([block]) => block.includes('records.ndjson')) ?? [];
    const folder = throwawayFolder();
    symlinkSync(path.join(root, 'bin'), path.join(folder, 'bin'));
    // Creating a database takes seconds.
    renameSync(migratedFolder(), path.join(folder, 'retention-data'));
    const { code, out, err } = await runProcess([script.replace(/^bin\/retention serve\n$/m, '')], {
      through: ['bash', '-euc'],
      cwd: folder,
      env: { HOME: folder },
    });
    assert.equal(code, 0, err);
    assert.match(out, /^Created shop 7 \(My shop\): growth, EUR\.$/m);
    assert.match(out, /^payment +1 /m);
    assert.match(out, /^rtn_[\w-]{43}$/m);
  });
});

describe('the changelog', () => {
  const lines = read('CHANGELOG.md').split('\n');

  test('has entries of at most three lines', () => {
    assert.ok(lines.filter((line) => line.startsWith('- ')).length > 50);
    const long = lines.filter(
      (line, index) =>
        line.startsWith('- ') &&
        lines.slice(index + 1, index + 4).every((next) => /^ {2}\S/.test(next)),
    );
    assert.deepEqual(long, []);
  });

  test('has nothing but headings and entries, in lines of at most 120 characters', () => {
    assert.deepEqual(
      lines
        .slice(lines.indexOf('## Unreleased'))
        .filter((line) => !/^(?:#{2,3} \S.*|- \S.*| {2}\S.*|)$/.test(line)),
      [],
    );
    assert.deepEqual(
      lines.filter((line) => line.length > 120),
      [],
    );
  });
});
