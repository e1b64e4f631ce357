import { orList } from '../../metrics/segments/segment.ts';

/** What an address says in place of one of some values, and what it could say. The rule for filters, orders and pickers. */
export const notOneOf = (text: unknown, noun: string, values: readonly string[]) =>
  `“${String(text)}” is not ${noun}. ${values.length === 0 ? 'There is none to choose' : `Choose ${orList(values)}`}.`;

/** What a page can choose by parameters of its address: what a value is, with its article, and all that it can be. */
export type Choices = Readonly<Record<string, readonly [noun: string, values: readonly string[]]>>;

/** Problems as one text; undefined if there are none. */
export const joined = (problems: readonly (string | false | undefined)[]) =>
  problems.filter(Boolean).join(' ') || undefined;

/**
 * What of an address is not one of a page's choices; undefined if all is. Parameters that are not the page's are ignored:
 * links in letters and chats get those of others, such as utm_source. So is a `done` that no form sends.
 */
export function problemIn(query: URLSearchParams, choices: Choices): string | undefined {
  return joined(
    Object.entries(choices).map(([name, [noun, values]]) => {
      const text = query.get(name);
      return text && !values.includes(text) ? notOneOf(text, noun, values) : undefined;
    }),
  );
}
