import { type MarkedToken, type Token, type Tokens, marked } from 'marked';
import { type Html, html } from '../http/html.ts';
import { highlight } from '../http/look/highlight.ts';
import { tabChoices } from '../http/look/look.ts';
import { type LanguageName, isLanguage, languages } from '../reference/languages.ts';

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

/**
 * Renders Markdown; its own HTML is shown as text.
 * @param language the first to be shown of examples in several
 */
export function renderArticle(text: string, language?: LanguageName): Article {
  const ids = new Set<string>();
  const sections: Section[] = [];
  /** What stands before the first heading of depth 2, then what each of them begins. */
  const parts: [Html[], ...Html[][]] = [[]];
  const push = (block: Html) => parts.at(-1)?.push(block);
  let codes = 0;
  const flush = (blocks: CodeBlock[]) => {
    for (const same of groupTabs(blocks.splice(0))) {
      const id = `code-${(codes += 1)}`;
      const [first] = same;
      push(same.length > 1 ? renderTabs(same, id, language) : renderCode(first as CodeBlock, id));
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
    if (isHeading && token.depth === 2) parts.push([]);
    push(isHeading ? renderHeading(token, id) : renderToken(token));
    // Smaller headings, such as those of each endpoint's parameters, belong to the section around them.
    if (isHeading && token.depth <= 3) {
      sections.push({ id, depth: token.depth, title: plainText(token.tokens), text: '' });
      continue;
    }
    const section = sections.at(-1);
    if (section) section.text += `${plainText([token])} `;
  }
  flush(blocks);
  const [start, ...rest] = parts;
  const content = html`${start}${rest.map((part) => html`<section>${part}</section>`)}`;
  return { content, sections };
}

/** Blocks in a row, each in another language, are the same example. */
function groupTabs(blocks: readonly CodeBlock[]): CodeBlock[][] {
  const groups: CodeBlock[][] = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    const isSame =
      last !== undefined &&
      isLanguage(block.language) &&
      last.every(({ language }) => isLanguage(language) && language !== block.language);
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
  // Comments are for those who edit the documents.
  html: ({ text }) => (text.startsWith('<!--') ? html`` : html`${text}`),
  space: () => html``,
  strong: ({ tokens }) => html`<strong>${renderAll(tokens)}</strong>`,
  em: ({ tokens }) => html`<em>${renderAll(tokens)}</em>`,
  codespan: ({ text }) => html`<code>${text}</code>`,
  code: ({ text, lang = '' }) => html`<pre><code>${highlight(text, lang)}</code></pre>`,
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
  table: ({ header, rows }) => {
    const heads = header.map(({ tokens }) =>
      tokens.length === 0 ? html`<td></td>` : html`<th scope="col">${renderAll(tokens)}</th>`,
    );
    const labels = header.map(({ tokens }) => plainText(tokens));
    const lines = rows.map((cells) => {
      const rendered = cells.map(({ tokens }, at) => {
        const content = renderAll(tokens);
        return at === 0
          ? html`<td>${content}</td>`
          : html`<td data-label="${labels[at]}">${content}</td>`;
      });
      return html`<tr>
        ${rendered}
      </tr>`;
    });
    return html`<table>
      <thead>
        <tr>
          ${heads}
        </tr>
      </thead>
      <tbody>
        ${lines}
      </tbody>
    </table>`;
  },
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

interface CodeBlock {
  /** As Markdown names it; empty for plain text. */
  readonly language: string;
  readonly text: string;
}

/**
 * A block of code, which a script can copy.
 * @param id unique in the page
 */
function renderCode({ language, text }: CodeBlock, id: string): Html {
  return html`<div class="code" data-language="${language}">
    <pre><code id="${id}">${highlight(text, language)}</code></pre>
    <button type="button" class="copy" data-copies="${id}" hidden>Copy</button>
  </div>`;
}

/**
 * The same example in several languages. Radio buttons switch between them, so that it takes no script.
 * @param id unique in the page
 */
function renderTabs(blocks: readonly CodeBlock[], id: string, chosen?: LanguageName): Html {
  const choices = blocks.map(({ language }) => ({
    value: language,
    label: languages[language as LanguageName].label,
  }));
  return html`<div class="example">
    <fieldset class="tabs">${tabChoices(`language-${id}`, 'Language', choices, chosen)}</fieldset>
    ${blocks.map((block, index) => renderCode(block, `${id}-${index}`))}
  </div>`;
}
