import type { Answer, AnswerBody } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { readSegmentChoices, segmentPicker } from '../segments/picker.ts';
import { shopPath } from '../site.ts';
import { page } from '../ui/page.ts';
import { periodPicker, viewProblem } from '../view/picker.ts';
import { type View, understood, viewOf } from '../view/view.ts';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { notOneOf } from '../view/choices.ts';
import type { FilterShape } from './address.ts';
import { type PlaceSchema, decodePlace, encodePlace } from './cursor.ts';
import { isChosen } from './columns.ts';
import { csvFile, pagedRows } from './csv.ts';
import { type HomesVisit, withHomes } from './homes.ts';
import {
  type AnyList,
  type List,
  type OpenList,
  openList,
  ownPath,
  reverseOf,
  upTo,
  valueOf,
} from './list.ts';
import { type PageWithFile, fileOrPage, ifInvalid, problemOf } from './page.ts';
import { isEmpty, table } from './table.ts';

/** How many rows are counted at most, of lists that have no count of their own. */
const maxCounted = 1_000;
/** Rows of a file that are read at once, the API's maximum. */
const rowsPerRead = 100;

/** A list with its page and its file. */
export interface DefinedList<Summary = never> extends PageWithFile {
  readonly orders: Readonly<Record<string, string>>;
  /** @param around a status other than 200, and what the page says of it first */
  show(parts: OwnerParts, visit: ShopVisit, around?: Around): Promise<Answer>;
  /** Its first rows, on a page that reads what all come to. */
  preview(
    parts: OwnerParts,
    visit: ShopVisit,
    first: { readonly view: View; readonly limit: number; summarise(): Promise<Summary> },
  ): Promise<{ readonly content: Html; readonly isWhole: boolean }>;
}

interface Around {
  readonly status: number;
  readonly notice: HtmlValue;
}

export function defineList<Row, Summary>() {
  return <Shape extends FilterShape, Place extends PlaceSchema, Order extends string>(
    definition: List<Row, Summary, Shape, Place, Order>,
  ): DefinedList<Summary> => {
    const list = definition as unknown as AnyList<Row, Summary>;
    return {
      info: { ...list, right: list.right ?? 'figures' },
      orders: list.orders,
      show: (parts, visit, around) => showList(list, parts, visit, around),
      file: (parts, visit) => fileOf(list, parts, visit),

      async preview(parts, visit, { view, limit, summarise }) {
        // The columns in the address would be those of the page around it.
        const query = new URLSearchParams(visit.query);
        query.delete('columns');
        const open = openList(list, parts, { ...visit, query }, view);
        const [found, summary] = await Promise.all([readRows(open, undefined, limit), summarise()]);
        const { rows } = found;
        const known = await withNames(open, parts, rows, summary);
        const content = table({ ...known, rows, summary });
        return { content, isWhole: found.next === undefined };
      },
    };
  };
}

async function showList<Row, Summary>(
  list: AnyList<Row, Summary>,
  parts: OwnerParts,
  visit: ShopVisit,
  { status, notice }: Around = { status: 200, notice: undefined },
): Promise<Answer> {
  const view = viewIn(list, parts, visit);
  const frame = (content: Html, shown: number, known: HomesVisit = visit) => {
    const title = valueOf(list.title, known, view.now);
    const framed = { title, content, status: shown };
    return list.frame?.(known, framed) ?? page(visit, framed);
  };
  const build = async () => {
    // A path without a list is not found, whatever its query says.
    valueOf(list.title, visit, view.now);
    const open = openList(list, parts, visit, list.view?.(view, visit.query) ?? view);
    const { before, after } = await placeIn(open);
    const [{ rows, next, ahead }, summary, pickers] = await Promise.all([
      readRows(open, after, open.limit, list.count ? 0 : maxCounted - before),
      list.summarise(open.visit),
      showPickers(list, parts, visit, open.visit.view),
    ]);
    for (const { name, label, options } of list.selects ?? []) {
      const text = open.visit.texts[name];
      const values = options(summary).map(([value]) => value);
      if (text !== undefined && !values.includes(text)) {
        throw new ServiceError('invalid', notOneOf(text, `a choice under “${label}”`, values));
      }
    }
    const last = before + rows.length;
    const [first] = rows;
    const cursorAt = (place: AnyPlace) => encodePlace(identityOf(open), place);
    const count = list.count
      ? list.count(open.visit, summary, rows)
      : upTo(maxCounted, before + ahead);
    const part = {
      before,
      // What is counted a moment later may differ.
      count: next === undefined ? last : typeof count === 'number' ? Math.max(count, last) : count,
      previous:
        first && before > open.limit
          ? cursorAt({ ...list.placeOf(first), before, isBack: true })
          : undefined,
      next: next && cursorAt({ ...next, before: last }),
    };
    const known = await withNames(open, parts, rows, summary);
    // What an empty list says is all there is to say.
    const content = html`${notice} ${pickers}
    ${!isEmpty(open.query, rows) && list.head?.(known.visit, summary, rows)}
    ${table({ ...known, rows, summary, part })}`;
    return frame(content, view.problem === undefined ? status : 400, known.visit);
  };
  return ifInvalid(visit, build, async (message) => {
    const segment = view.problem && (await showSegment(list, parts, visit, view));
    return frame(problemOf(message, shopPath(visit.shop, ownPath(list, visit)), segment), 400);
  });
}

function fileOf<Row, Summary>(
  list: AnyList<Row, Summary>,
  parts: OwnerParts,
  visit: ShopVisit,
): Promise<Answer<AnswerBody>> {
  return fileOrPage(visit, ownPath(list, visit), async () => {
    const view = understood(viewIn(list, parts, visit));
    // What the path names must exist before its page can say what is wrong with the query.
    valueOf(list.title, visit, view.now);
    const open = openList(list, parts, visit, list.view?.(view, visit.query) ?? view);
    const shown = open.columns.filter((column) => isChosen(column, open.chosen));
    const cells = new Map(shown.flatMap(({ file }) => Object.entries(file)));
    const heads = [...cells.keys()];
    const rows = await pagedRows(
      async (after?: AnyPlace) => {
        const found = await readRows(open, after, list.rowsPerRead ?? rowsPerRead);
        return { ...found, ...(await withNames(open, parts, found.rows)) };
      },
      (found) =>
        found.rows.map((row) => heads.map((each) => cells.get(each)?.(row, found.visit) ?? null)),
    );
    const noun = valueOf(list.fileNoun ?? list.noun, visit);
    return csvFile({ shop: visit.shop, noun, now: view.now, heads, rows });
  });
}

/**
 * Some rows after a place, and the place of the next ones, if there are more.
 * @param counted how many rows after the place are read at least, to count them as `ahead`
 */
async function readRows<Row, Summary>(
  { list, visit }: OpenList<Row, Summary>,
  after: AnyPlace | undefined,
  limit: number,
  counted = 0,
) {
  const most = Math.max(limit, counted) + 1;
  const found = await list.read(visit, { order: visit.order, after, limit: most });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = last && found.length > limit ? list.placeOf(last) : undefined;
  return { rows, next, ahead: found.length };
}

/** With the homes of the records that its columns name in some rows, and of those that its page is about. */
async function withNames<Row, Summary>(
  open: OpenList<Row, Summary>,
  parts: OwnerParts,
  rows: readonly Row[],
  summary?: Summary,
): Promise<OpenList<Row, Summary>> {
  const inRows = open.columns.flatMap(({ names }) => (names ? rows.map(names) : []));
  const about = summary === undefined ? [] : (open.list.about?.(open.visit, summary) ?? []);
  const visit = await withHomes(parts, open.visit, [...inRows, ...about]);
  return { ...open, visit };
}

/**
 * The last row of the page before the one in the address, and how many rows there are until then.
 * @throws ServiceError invalid, for a place in another list
 */
async function placeIn<Row, Summary>(open: OpenList<Row, Summary>) {
  const { list, visit, limit } = open;
  const firstPage = { before: 0, after: undefined };
  const cursor = visit.query.get('cursor') || undefined;
  if (cursor === undefined) return firstPage;
  const schema = list.place.extend({
    before: z.int().min(1),
    isBack: z.literal(true).optional(),
  });
  const { before: given, isBack, ...place } = decodePlace(identityOf(open), cursor, schema);
  const before = given as number;
  if (isBack === undefined) return { before, after: place };
  // The page ends before this row: in reverse order, its rows follow, then the last one of the page before it.
  const rows = { order: reverseOf(open), after: place, limit: limit + 1 };
  const last = (await list.read(visit, rows))[limit];
  return last && before > limit ? { before: before - limit, after: list.placeOf(last) } : firstPage;
}

/** What places belong to. Not the instants: a period that ends now has others on each page. */
function identityOf<Row, Summary>({ visit, path, query }: OpenList<Row, Summary>): string {
  return `${visit.shop.id} ${path} ${JSON.stringify(query)} ${visit.order}`;
}

/** What a list is sorted by, of the last row of a page. */
type AnyPlace = Readonly<Record<string, unknown>>;

type Pickers = Pick<AnyList<never, never>, 'pickers' | 'path' | 'endWithView'>;

function viewIn({ pickers }: Pickers, { clock }: OwnerParts, { query }: ShopVisit): View {
  const picked = valueOf(pickers, query);
  const segment = picked.includes('segment') ? parseSegment(query) : undefined;
  return viewOf(picked.length === 0 ? new URLSearchParams() : query, clock.now(), segment);
}

async function showPickers(list: Pickers, parts: OwnerParts, visit: ShopVisit, view: View) {
  const hasPeriod = valueOf(list.pickers, visit.query).includes('period');
  const path = shopPath(visit.shop, ownPath(list, visit));
  const problem = hasPeriod && viewProblem(visit, view);
  const period = hasPeriod && periodPicker(picking(list, visit), view, path, false);
  const segment = await showSegment(list, parts, visit, view);
  if (!period && !segment) return problem;
  return html`${problem}
    <div class="pickers">${period} ${segment}</div>`;
}

async function showSegment(list: Pickers, parts: OwnerParts, visit: ShopVisit, view: View) {
  if (!valueOf(list.pickers, visit.query).includes('segment')) return undefined;
  const choices = await readSegmentChoices(parts, visit, view);
  const path = shopPath(visit.shop, ownPath(list, visit));
  return segmentPicker(picking(list, visit), view.segment, choices, path);
}

/** Without the filters that a change of the period or the segment ends. */
function picking({ endWithView = [] }: Pickers, visit: ShopVisit): ShopVisit {
  const query = new URLSearchParams(visit.query);
  for (const name of endWithView) query.delete(name);
  return { ...visit, query };
}
