import { type Html, html } from '../html.ts';

const words =
  'and|as|async|await|class|const|continue|def|defer|echo|else|except|export|for|from|func|function|if|import|in|interface|let|new|nil|not|of|or|package|puts|raise|require|return|throw|try|type|unless|while|with|yield';

/** What is coloured, by the class that base.css gives a colour: close enough for every language of the examples. */
const code = new RegExp(
  [
    String.raw`(?<comment>(?<=^|\s)(?:#|\/\/).*$|\/\*[^]*?\*\/)`,
    String.raw`(?<text>"(?:[^"\\\n]|\\.)*"|'[^']*'|\`[^\`]*\`)`,
    String.raw`(?<keyword>(?<![\w.$/-])(?:${words})(?![\w:=/-]))`,
  ].join('|'),
  'gm',
);
const json =
  /(?<keyword>"(?:[^"\\]|\\.)*"(?=\s*:)|\b(?:true|false|null)\b)|(?<text>"(?:[^"\\]|\\.)*")|(?<number>-?\b\d[\d.eE+-]*)/g;

/** Other texts are in no language, such as output. */
const plain = new Set(['', 'text', 'http']);

/** Colours code. @param language as Markdown names it */
export function highlight(text: string, language: string): Html {
  if (plain.has(language)) return html`${text}`;
  const parts: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(language === 'json' ? json : code)) {
    const [kind = '', found = ''] =
      Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
    parts.push(html`${text.slice(end, match.index)}<span class="${kind}">${found}</span>`);
    end = match.index + found.length;
  }
  return html`${parts}${text.slice(end)}`;
}
