import { type MarkedToken, type Token, type Tokens, marked } from 'marked';
import { type Html, html } from '../http/html.ts';
import { tabChoices } from '../http/look/look.ts';

/** A heading, and what stands below it as plain text, for the search. */
export interface Section {
  readonly id: string;
  readonly depth: number;
  readonly title: string;
  text: string;
}

export interface Article {
  readonly content: Html;
  /** The first is the title of the article. */
  readonly sections: readonly Section[];
}

/** Renders Markdown; its own HTML is shown as text. */
export function renderArticle(text: string): Article {
  const ids = new Set<string>();
  const sections: Section[] = [];
  const content: Html[] = [];
  let codes = 0;
  const flush = (blocks: CodeBlock[]) => {
    for (const same of groupTabs(blocks.splice(0))) {
      const id = `code-${(codes += 1)}`;
      const [first] = same;
      content.push(same.length > 1 ? renderTabs(same, id) : renderCode(first as CodeBlock, id));
    }
  };
  const blocks: CodeBlock[] = [];
  for (const token of marked.lexer(text) as MarkedToken[]) {
    if (token.type === 'space' || token.type === 'def') continue;
    if (token.type === 'code') {
      blocks.push({ language: token.lang ?? '', text: token.text });
      continue;
    }
    flush(blocks);
    const isHeading = token.type === 'heading';
    const id = isHeading ? uniqueId(plainText(token.tokens), ids) : '';
    content.push(isHeading ? renderHeading(token, id) : renderToken(token));
    // Smaller headings, such as those of each endpoint's parameters, belong to the section around them.
    if (isHeading && token.depth <= 3) {
      sections.push({ id, depth: token.depth, title: plainText(token.tokens), text: '' });
      continue;
    }
    const section = sections.at(-1);
    if (section) section.text += `${plainText([token])} `;
  }
  flush(blocks);
  return { content: html`${content}`, sections };
}

/** Blocks in a row, each in another language, are the same example. */
function groupTabs(blocks: readonly CodeBlock[]): CodeBlock[][] {
  const groups: CodeBlock[][] = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    const isSame =
      last !== undefined &&
      isTab(block) &&
      last.every((each) => isTab(each) && each.language !== block.language);
    if (isSame) last.push(block);
    else groups.push([block]);
  }
  return groups;
}

/** The anchor that GitHub gives a heading. */
function uniqueId(title: string, ids: Set<string>): string {
  const slug = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
  let id = slug;
  for (let count = 1; ids.has(id); count += 1) id = `${slug}-${count}`;
  ids.add(id);
  return id;
}

function renderHeading({ depth, tokens }: Tokens.Heading, id: string): Html {
  const text = renderAll(tokens);
  if (depth === 1) return html`<h1 id="${id}">${text}</h1>`;
  const link = html`<a href="#${id}">${text}</a>`;
  if (depth === 2) return html`<h2 id="${id}">${link}</h2>`;
  if (depth === 3) return html`<h3 id="${id}">${link}</h3>`;
  return html`<h4 id="${id}">${text}</h4>`;
}

/** How each kind of token is rendered that the documents use. */
const renderers: {
  readonly [Type in MarkedToken['type']]?: (token: Extract<MarkedToken, { type: Type }>) => Html;
} = {
  paragraph: ({ tokens }) => html`<p>${renderAll(tokens)}</p>`,
  text: ({ text, tokens }) => (tokens ? renderAll(tokens) : html`${text}`),
  escape: ({ text }) => html`${text}`,
  html: ({ text }) => html`${text}`,
  space: () => html``,
  strong: ({ tokens }) => html`<strong>${renderAll(tokens)}</strong>`,
  em: ({ tokens }) => html`<em>${renderAll(tokens)}</em>`,
  codespan: ({ text }) => html`<code>${text}</code>`,
  link: ({ href, tokens }) => html`<a href="${href}">${renderAll(tokens)}</a>`,
  list: ({ ordered, items }) => {
    const rendered = items.map(({ tokens }) => html`<li>${renderAll(tokens)}</li>`);
    return ordered
      ? html`<ol>
          ${rendered}
        </ol>`
      : html`<ul>
          ${rendered}
        </ul>`;
  },
  table: ({ header, rows }) =>
    html`<table>
      <thead>
        <tr>
          ${header.map(({ tokens }) =>
            tokens.length === 0 ? html`<td></td>` : html`<th scope="col">${renderAll(tokens)}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map(
                ({ tokens }, index) =>
                  html`<td data-label="${plainText(header[index]?.tokens ?? [])}">
                    ${renderAll(tokens)}
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>`,
};

function renderAll(tokens: readonly Token[]): Html {
  return html`${tokens.map((token) => renderToken(token as MarkedToken))}`;
}

/** @throws TypeError for a kind of token that no document uses yet */
function renderToken(token: MarkedToken): Html {
  const render = renderers[token.type] as ((token: MarkedToken) => Html) | undefined;
  if (!render) throw new TypeError(`Documents cannot have "${token.type}": ${token.raw}`);
  return render(token);
}

/** The text of tokens, without markup and without blocks of code. */
function plainText(tokens: readonly Token[]): string {
  return (tokens as MarkedToken[]).map(textOf).join('').replace(/\s+/g, ' ');
}

function textOf(token: MarkedToken): string {
  if (token.type === 'code') return '';
  if (token.type === 'list') return token.items.map(({ tokens }) => plainText(tokens)).join(' ');
  if (token.type === 'table') {
    return [token.header, ...token.rows]
      .flat()
      .map((cell) => plainText(cell.tokens))
      .join(' ');
  }
  if ('tokens' in token && token.tokens) return plainText(token.tokens);
  return 'text' in token ? token.text : ' ';
}

/** The languages of examples that say the same, in the order of their tabs. */
const tabs: ReadonlyMap<string, string> = new Map([
  ['sh', 'curl'],
  ['js', 'JavaScript'],
  ['python', 'Python'],
]);

/** Output and the like, in no language. */
const plain = new Set(['', 'text']);

interface CodeBlock {
  /** As Markdown names it; empty for plain text. */
  readonly language: string;
  readonly text: string;
}

function isTab({ language }: CodeBlock): boolean {
  return tabs.has(language);
}

/**
 * A block of code, which a script can copy.
 * @param id unique in the page
 */
function renderCode({ language, text }: CodeBlock, id: string): Html {
  return html`<div class="code" data-language="${language}">
    <pre><code id="${id}">${plain.has(language) ? text : highlight(text)}</code></pre>
    <button type="button" class="copy" data-copies="${id}" hidden>Copy</button>
  </div>`;
}

/**
 * The same example in several languages. Radio buttons switch between them, so that it takes no script.
 * @param id unique in the page
 */
function renderTabs(blocks: readonly CodeBlock[], id: string): Html {
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
