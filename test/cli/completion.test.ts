import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { run, throwawayFolder } from './process.ts';

const env = { LOG_LEVEL: 'silent' };

/** What is typed after `retention`, words that are offered then, and one that is not. */
const cases: readonly [typed: string, offered: readonly string[], other: string][] = [
  ['', ['keys', 'import', 'completion', 'help'], 'create'],
  ['ke', ['keys'], 'import'],
  ['keys ', ['create', 'list', 'revoke', 'revoked'], 'keys-list'],
  ['help keys ', ['create', 'list', 'revoke', 'revoked'], 'shops'],
  ['help ', ['keys', 'serve'], 'help'],
  ['completion ', ['bash', 'zsh', 'fish'], 'sh'],
  ['keys create --s', ['--shop', '--scopes'], '--since'],
  ['keys revoked --shop 7 --s', ['--shop', '--since'], '--scopes'],
  ['serve --', ['--workers', '--help'], '--shop'],
  ['-', ['--help', '--version'], '--workers'],
  ['shops create --id 1 --tier ', ['free', 'enterprise_plus'], '--id'],
  ['shops create --tier g', ['growth'], 'free'],
  ['shops set-tier 1 ', ['free', 'growth', 'pro'], 'create'],
  ['shops set-tier 1 p', ['pro'], 'free'],
  ['shops set-tier ', [], 'pro'],
  ['import --from ', ['shopify'], 'keys'],
  ['platforms connect ', ['shopify'], 'list'],
  ['keys create --scopes ', ['read:plans', 'read:metrics'], '--shop'],
  ['keys create --name x --scopes read:m', ['read:metrics'], 'read:plans'],
];

interface Shell {
  /** A script that prints what is offered for each case, each followed by a line with a dot. */
  ask(file: string, typed: readonly string[]): string;
  readonly args: readonly string[];
}

const shells: Readonly<Record<string, Shell>> = {
  bash: {
    args: ['--norc', '--noprofile'],
    ask: (file, typed) => `
      source ${file}
      complete -p retention >&2
      # Without colons among them, it replaces whole words.
      COMP_WORDBREAKS=' '
      offer() { COMP_LINE=$1 COMP_POINT=\${#1}; _retention; printf '%s\\n' "\${COMPREPLY[@]}" .; }
      ${typed.map((line) => `offer 'retention ${line}'`).join('\n')}`,
  },
  zsh: {
    args: ['-f'],
    // Only a terminal completes; these stand in for its functions, which get what is offered.
    ask: (file, typed) => `
      compdef() { : }
      _describe() {
        for each in "\${(@P)2}"; do
          each=\${\${\${each//\\\\:/;}%%:*}//;/:}
          [[ $each != "$words[CURRENT]"* ]] || print -r -- "$each"
        done
      }
      _files() { print 'a file' }
      source ${file}
      offer() { words=("$@"); CURRENT=$#; _retention; print . }
      ${typed.map((line) => `offer retention ${line.replace(/(^| )$/, "$1''")}`).join('\n')}`,
  },
  fish: {
    args: ['--no-config'],
    ask: (file, typed) =>
      [`source ${file}`, ...typed.map((line) => `complete -C 'retention ${line}'; echo .`)].join(
        '\n',
      ),
  },
};

for (const [shell, { args, ask }] of Object.entries(shells)) {
  const isMissing = spawnSync(shell, ['--version']).error !== undefined;
  if (isMissing && process.env['CI']) throw new Error(`CI needs ${shell}.`);
  const skip = isMissing && `${shell} is not available on this machine`;

  describe(`retention completion ${shell}`, { skip }, () => {
    test('offers the commands and options that there are', async () => {
      const { code, out } = await run(['completion', shell], { env });
      assert.equal(code, 0);
      const file = path.join(throwawayFolder(), 'completion');
      writeFileSync(file, out);
      const script = ask(
        file,
        cases.map(([typed]) => typed),
      );
      const said = execFileSync(shell, [...args, '-c', script], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const answers = said.split(/^\.\n/m);
      assert.equal(answers.length, cases.length + 1, said);
      for (const [index, [typed, offered, other]] of cases.entries()) {
        const words = new Set((answers[index] ?? '').split(/\s+/));
        for (const word of offered) assert.ok(words.has(word), `${typed}: ${answers[index]}`);
        assert.ok(!words.has(other), `${typed}: ${answers[index]}`);
      }
    });
  });
}

test('lists every command and each of its options', async () => {
  const { out: help } = await run(['help'], { env });
  const names = [...help.matchAll(/^ {2}([a-z]\S*(?: \S+)*) {2,}/gm)].map(([, name = '']) => name);
  assert.ok(names.length > 40);
  const { out } = await run(['completion', 'bash'], { env });
  for (const name of names) assert.ok(out.includes(`'${name} '*) choices=`), name);
});
