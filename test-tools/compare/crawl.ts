import { type Answer, type Field, type Visitor, headOf, queryOf, whole } from './visitor.ts';
import { type Control, type Form, outlineOf } from './outline.ts';
import type { Both, Report } from './report.ts';
import { publicUrl } from './version.ts';

/** Of the addresses with one path and the same parameters, and of the pages of one list. */
const [perParameters, perList] = [3, 5] as const;
/** Of all addresses with one path: fewer of shops that are there for their figures. */
const perPath = (path: string) => (/\/shop-10[3-7]\b/.test(path) ? 4 : 12);
/** Pages that are asked for at the same time. */
const atOnce = 4;

/** A form as first found: on which page. */
export interface FoundForm {
  readonly page: string;
  readonly signature: string;
}

/**
 * Opens all pages and files that links and forms lead to, in both versions, a few variants of each.
 * @returns the pages that were opened, and the forms that change something
 */
export async function crawl(visitors: Both<Visitor>, report: Report, start: readonly string[]) {
  const admitted = new Map<string, number>();
  const seen = new Set<string>();
  const queue: string[] = [];
  const opened: string[] = [];
  const forms = new Map<string, FoundForm>();

  const admit = (link: string, from: string) => {
    const url = new URL(link, publicUrl + from);
    const address = url.pathname + url.search;
    const isPage = url.origin === publicUrl && /^\/app(?:\/|$)/.test(url.pathname);
    if (!isPage || seen.has(address)) return;
    seen.add(address);
    const names = [...url.searchParams].flatMap(([name, value]) => (value === '' ? [] : [name]));
    const path = pathPattern(url.pathname, false);
    const budgets: [string, number][] = names.includes('cursor')
      ? [[`${path} pages`, perList]]
      : [
          [`${path} ${names.toSorted().join(' ')}`, perParameters],
          [path, perPath(path)],
        ];
    if (budgets.some(([name, max]) => (admitted.get(name) ?? 0) >= max)) return;
    for (const [name] of budgets) admitted.set(name, (admitted.get(name) ?? 0) + 1);
    queue.push(address);
  };

  start.forEach((link) => admit(link, '/'));
  while (queue.length > 0) {
    const addresses = queue.splice(0, atOnce);
    const answers = await Promise.all(
      addresses.map((address) => askBoth(visitors, report, address)),
    );
    for (const [index, answer] of answers.entries()) {
      const address = addresses[index] as string;
      opened.push(address);
      const { location } = answer.headers;
      if (location !== undefined) admit(location, address);
      if (!isHtml(answer)) continue;
      const outline = outlineOf(answer.body.toString(), address);
      outline.links.forEach((link) => admit(link, address));
      for (const form of outline.forms) {
        const signature = signatureOf(form);
        if (form.method === 'get') variants(form).forEach((link) => admit(link, address));
        else if (!forms.has(signature)) forms.set(signature, { page: address, signature });
      }
    }
  }
  return { opened, forms: [...forms.values()] };
}

/** Asks both for a page or a file, and returns the answer of the old one. */
export function askBoth(
  visitors: Both<Visitor>,
  report: Report,
  address: string,
  language?: string,
): Promise<Answer> {
  const question = (answer: Answer) => ({
    kind: isHtml(answer) || answer.body.length === 0 ? ('pages' as const) : ('files' as const),
    pattern: pathPattern(address, true),
    asked: language === undefined ? address : `${address} (${language})`,
  });
  return report.ask(question, visitors, (each) => each.open(address, language), pageText);
}

const isHtml = ({ headers }: Answer) => headers['content-type']?.startsWith('text/html') === true;

/** A page as its outline, anything else as it is. */
export function pageText(answer: Answer): string {
  if (!isHtml(answer)) return whole(answer);
  // The length and the policy follow from markup and styles.
  const head = headOf(answer).replaceAll(
    /^(?:content-length|content-security-policy): .*\n?/gm,
    '',
  );
  return `${head}\n\n${outlineOf(answer.body.toString()).text}`;
}

/** The path of an address without the ids in it. */
export function pathPattern(address: string, isAnyShop: boolean): string {
  const [path = ''] = address.split('?');
  return path
    .replace(/(?<=^\/app\/shops\/)\d+/, isAnyShop ? ':shop' : 'shop-$&')
    .replaceAll(/(?<=\/)(?:[\d-]+|(?:key|src)_[0-9a-f]+|[\w-]{43})(?=\/|$)/g, ':id');
}

export function signatureOf({ action, controls }: Form): string {
  const names = [...new Set(controls.map(({ name }) => name.replace(/^q:.*/, 'q:')))];
  return `${pathPattern(action, true)} (${names.join(', ')})`;
}

/** What a form that only asks could send: as it is, and each choice, and texts of several kinds, on their own. */
function variants({ action, controls }: Form): string[] {
  const given = fieldsOf(controls);
  const changed = controls.flatMap((control) =>
    valuesOf(control).map((value): Field[] => {
      const others = given.filter(([name, each]) => name !== control.name && each !== '');
      return value === '' ? others : [...others, [control.name, value]];
    }),
  );
  return [given, ...changed].map((fields) => `${action.split('?')[0]}?${queryOf(fields)}`);
}

/** What a form sends if nothing is changed; a button counts only if it is pressed. */
export function fieldsOf(controls: readonly Control[]): Field[] {
  return controls.flatMap(({ tag, name, value }): Field[] =>
    value === undefined || tag === 'button' ? [] : [[name, value]],
  );
}

function valuesOf({ type, choices }: Control): readonly string[] {
  if (type === 'hidden') return [];
  if (type === 'date') return ['2026-11-01', '2026-01-15', 'x'];
  return choices.length > 0 ? choices.slice(0, 8) : ['12', 'pro', '9.50', 'x%00'];
}
