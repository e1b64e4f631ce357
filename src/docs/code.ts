import { type Html, html } from '../http/html.ts';
import { tabChoices } from '../http/look/tab-choices.ts';

/** The languages of examples that say the same, in the order of their tabs. */
const tabs: ReadonlyMap<string, string> = new Map([
  ['sh', 'curl'],
  ['js', 'JavaScript'],
  ['python', 'Python'],
]);

/** Output and the like, in no language. */
const plain = new Set(['', 'text']);

export interface CodeBlock {
  /** As Markdown names it; empty for plain text. */
  readonly language: string;
  readonly text: string;
}

export function isTab({ language }: CodeBlock): boolean {
  return tabs.has(language);
}

/**
 * A block of code, which a script can copy.
 * @param id unique in the page
 */
export function renderCode({ language, text }: CodeBlock, id: string): Html {
  return html`<div class="code" data-language="${language}">
    <pre><code id="${id}">${plain.has(language) ? text : highlight(text)}</code></pre>
    <button type="button" class="copy" data-copies="${id}" hidden>Copy</button>
  </div>`;
}

/**
 * The same example in several languages. Radio buttons switch between them, so that it takes no script.
 * @param id unique in the page
 */
export function renderTabs(blocks: readonly CodeBlock[], id: string): Html {
  return html`<div class="example">
    <fieldset class="tabs">
      ${tabChoices(
        id,
        'Language',
        blocks.map(({ language }) => ({ value: language, label: tabs.get(language) ?? language })),
      )}
    </fieldset>
    ${blocks.map((block, index) => renderCode(block, `${id}-${index}`))}
  </div>`;
}

const words =
  'and|as|async|await|class|const|continue|def|else|except|export|for|from|function|if|import|in|interface|let|new|not|of|or|raise|return|throw|try|type|while|with|yield';
/** What is coloured: comments, texts and keywords, close enough for every language of the examples. */
const coloured = new RegExp(
  [
    String.raw`(?<comment>(?<=^|\s)(?:#|\/\/).*$|\/\*[^]*?\*\/)`,
    String.raw`(?<text>"(?:[^"\\\n]|\\.)*"|'[^']*'|\`[^\`]*\`)`,
    String.raw`(?<keyword>(?<![\w.$/-])(?:${words})(?![\w:=/-]))`,
  ].join('|'),
  'gm',
);

function highlight(text: string): Html {
  const parts: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(coloured)) {
    const [kind = '', found = ''] =
      Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
    parts.push(html`${text.slice(end, match.index)}<span class="${kind}">${found}</span>`);
    end = match.index + found.length;
  }
  return html`${parts}${text.slice(end)}`;
}
