import type { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Answer, AnswerBody } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import type { PageInfo } from '../site.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { page, redirect } from '../ui/answers.ts';
import { alert, layout, shopPath } from '../ui/layout.ts';
import { periodPicker } from '../view/picker.ts';
import { type View, understood, viewOf, viewQuery } from '../view/view.ts';
import { chosenAmong, chosenIn, isChosen } from './columns.ts';
import { csvFile, pagedRows } from './csv.ts';
import { type FilterShape, choice, parseFilters, textsOf } from './filters.ts';
import type { List, ListVisit } from './list.ts';
import { type PlaceSchema, decodePlace, encodePlace } from './place.ts';
import { table } from './table.ts';

/** Rows per page, the API's default. */
const rowsPerPage = 50;
/** Rows of a file that are read at once, the API's maximum. */
const rowsPerRead = 100;

/** A page of a shop, and the same as a file. */
export interface PageWithFile {
  readonly info: Omit<PageInfo, 'right'>;
  /** If it is not that of the page with `.csv`. */
  readonly filePath?: string;
  show(parts: OwnerParts, visit: ShopVisit): Promise<Answer>;
  file(parts: OwnerParts, visit: ShopVisit): Promise<Answer<AnswerBody>>;
}

/** A list with its page and its file. */
export interface DefinedList<Summary = never> extends PageWithFile {
  readonly orders: Readonly<Record<string, string>>;
  /** @param around a status other than 200, and what the page says of it first */
  show(
    parts: OwnerParts,
    visit: ShopVisit,
    around?: { readonly status: number; readonly notice: HtmlValue },
  ): Promise<Answer>;
  /** Its first rows, on a page that reads what all come to. */
  preview(
    parts: OwnerParts,
    visit: ShopVisit,
    first: { readonly view: View; readonly limit: number; summarise(): Promise<Summary> },
  ): Promise<{ readonly content: Html; readonly isWhole: boolean }>;
}

export function defineList<Row, Summary>() {
  return <Shape extends FilterShape, Place extends PlaceSchema, Order extends string>(
    list: List<Row, Summary, Shape, Place, Order>,
  ): DefinedList<Summary> => {
    const [firstOrder] = Object.keys(list.orders) as [Order];
    const orderShape = { order: choice('order', list.orders) };

    const columnsOf = (visit: ListVisit<Shape, Order>) =>
      typeof list.columns === 'function' ? list.columns(visit) : list.columns;

    /** @throws ServiceError invalid */
    const open = (parts: OwnerParts, visit: ShopVisit, view: View) => {
      const { shop, query } = visit;
      const texts = textsOf(query, list.filters);
      const filters = parseFilters(list.filters, texts);
      const { order = firstOrder } = parseFilters(orderShape, textsOf(query, orderShape));
      const listVisit: ListVisit<Shape, Order> = { ...visit, parts, view, filters, texts, order };
      const columns = columnsOf(listVisit);
      const address = { ...Object.fromEntries(viewQuery(view)), ...texts };
      // Not the instants: a period that ends now has others on each page.
      const identity = `${shop.id} ${pathOf(visit)} ${JSON.stringify(address)} ${order}`;
      return {
        visit: listVisit,
        columns,
        chosen: chosenIn(query, columns),
        address,
        identity,
      };
    };
    type Opened = ReturnType<typeof open>;

    const pickersIn = ({ query }: ShopVisit) =>
      typeof list.pickers === 'function' ? list.pickers(query) : list.pickers;

    const viewIn = (visit: ShopVisit, { clock }: OwnerParts) => {
      const pickers = pickersIn(visit);
      const query = pickers.length === 0 ? new URLSearchParams() : visit.query;
      const segment = pickers.includes('segment') ? parseSegment(query) : undefined;
      return viewOf(query, clock.now(), segment);
    };

    const ownPath = ({ params }: ShopVisit) =>
      list.path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ''));
    const titleOf = (visit: ShopVisit, now: number) =>
      typeof list.title === 'function' ? list.title(visit, now) : list.title;
    const pathOf = (visit: ShopVisit) => shopPath(visit.shop, ownPath(visit));

    const read = async (
      visit: Opened['visit'],
      after: z.output<Place> | undefined,
      limit: number,
    ) => {
      const found = await list.read(visit, { order: visit.order, after, limit: limit + 1 });
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      const next = last && found.length > limit ? list.placeOf(last) : undefined;
      return { rows, next, isFurther: after !== undefined };
    };

    const contentOf = (
      { visit, columns, chosen, address, identity }: Opened,
      { rows, next, isFurther }: Awaited<ReturnType<typeof read>>,
      summary: Summary,
    ) => {
      const { caption } = list;
      const { order } = visit;
      const links = typeof list.links === 'function' ? list.links(visit) : list.links;
      return table<Row, Summary>({
        visit,
        caption:
          typeof caption === 'function'
            ? caption(visit)
            : `${caption}, ${list.orders[order].toLowerCase()}`,
        noun: list.noun,
        path: pathOf(visit),
        query: address,
        links: links && {
          ...links,
          options:
            typeof links.options === 'function' ? links.options(visit, summary) : links.options,
        },
        selects: (list.selects ?? []).map((each) => ({ ...each, options: each.options(summary) })),
        orders: list.orders,
        order,
        columns,
        chosen,
        chosenWith: (change) => {
          const texts = { ...visit.texts, ...change };
          const filters = parseFilters(list.filters, texts);
          return chosenAmong(chosen, columnsOf({ ...visit, texts, filters }));
        },
        summary,
        rows,
        isFurther,
        next: next && encodePlace(identity, next),
        above: list.above?.(visit, summary),
        empty: () => list.empty(visit),
      });
    };

    const frame = (visit: ShopVisit, title: string, content: Html, status: number) => {
      if (list.frame) return list.frame(visit, { title, content, status });
      return page(layout(visit, { title, content }), status);
    };

    return {
      info: list,
      orders: list.orders,

      async show(parts, visit, { status, notice } = { status: 200, notice: undefined }) {
        const view = viewIn(visit, parts);
        const build = async () => {
          const title = titleOf(visit, view.now);
          const opened = open(parts, visit, list.view?.(view, visit.query) ?? view);
          const cursor = visit.query.get('cursor') || undefined;
          const after =
            cursor === undefined ? undefined : decodePlace(opened.identity, cursor, list.place);
          const [found, summary, pickers] = await Promise.all([
            read(opened.visit, after, rowsPerPage),
            list.summarise(opened.visit),
            pickersOf(parts, visit, opened.visit.view),
          ]);
          const head = list.head?.(opened.visit, summary, found.rows);
          const content = html`${notice} ${pickers} ${head} ${contentOf(opened, found, summary)}`;
          return frame(visit, title, content, status);
        };
        return ifInvalid(visit, build, async (message) => {
          const segment = view.problem && (await segmentOf(parts, visit, view));
          const content = problemOf(message, pathOf(visit), segment);
          return frame(visit, titleOf(visit, view.now), content, 400);
        });
      },

      async file(parts, visit) {
        return fileOrPage(visit, ownPath(visit), async () => {
          const view = understood(viewIn(visit, parts));
          // What the path names must exist before its page can say what is wrong with the query.
          titleOf(visit, view.now);
          const opened = open(parts, visit, list.view?.(view, visit.query) ?? view);
          const { columns, chosen } = opened;
          const cells = new Map(
            columns
              .filter((column) => isChosen(column, chosen))
              .flatMap(({ file }) => Object.entries(file)),
          );
          const heads = (list.fileHeads ?? [...cells.keys()]).filter((each) => cells.has(each));
          const rows = await pagedRows(
            (after?: z.output<Place>) => read(opened.visit, after, list.rowsPerRead ?? rowsPerRead),
            ({ rows: some }) =>
              some.map((row) => heads.map((each) => cells.get(each)?.(row, visit) ?? null)),
          );
          const { fileNoun = list.noun } = list;
          const noun = typeof fileNoun === 'function' ? fileNoun(visit) : fileNoun;
          return csvFile({ shop: visit.shop, noun, now: view.now, heads, rows });
        });
      },

      async preview(parts, visit, { view, limit, summarise }) {
        // The columns in the address would be those of the page around it.
        const query = new URLSearchParams(visit.query);
        query.delete('columns');
        const opened = open(parts, { ...visit, query }, view);
        const [found, summary] = await Promise.all([
          read(opened.visit, undefined, limit),
          summarise(),
        ]);
        const content = contentOf(opened, { ...found, next: undefined }, summary);
        return { content, isWhole: found.next === undefined };
      },
    };

    async function pickersOf(parts: OwnerParts, visit: ShopVisit, view: View) {
      const period = pickersIn(visit).includes('period')
        ? periodPicker(picking(visit), view, pathOf(visit))
        : undefined;
      return html`${period} ${await segmentOf(parts, visit, view)}`;
    }

    async function segmentOf(parts: OwnerParts, visit: ShopVisit, { segment }: View) {
      if (!pickersIn(visit).includes('segment')) return undefined;
      const choices = await readSegmentChoices(parts, visit.shop);
      return segmentPicker(picking(visit), segment, choices, pathOf(visit));
    }

    /** Without the filters that a change of the period or the segment ends. */
    function picking(visit: ShopVisit): ShopVisit {
      const query = new URLSearchParams(visit.query);
      for (const name of list.endWithView ?? []) query.delete(name);
      return { ...visit, query };
    }
  };
}

/** An answer; for invalid query parameters, one that says so. */
export async function ifInvalid<Given extends Answer<AnswerBody>>(
  visit: ShopVisit,
  build: () => Promise<Given>,
  explain: (message: string) => Answer | Promise<Answer>,
): Promise<Given | Answer> {
  try {
    return await build();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.kind === 'notFound') return notFoundPage(visit);
    if (error.kind !== 'invalid') throw error;
    return explain(error.message);
  }
}

/** What is wrong with an address, and a way on. @param path of the page without its query */
export function problemOf(message: string, path: `/app${string}`, more?: HtmlValue): Html {
  return html`${alert(message)} ${more}
    <p><a href="${path}">See all, from the first page</a></p>`;
}

/**
 * A file of a page. For invalid query parameters it leads to the page, which says what is wrong.
 * @param path of the page, below that of the shop
 */
export function fileOrPage(
  visit: ShopVisit,
  path: string,
  build: () => Promise<Answer<AnswerBody>>,
): Promise<Answer<AnswerBody>> {
  return ifInvalid(visit, build, () => redirect(shopPath(visit.shop, `${path}?${visit.query}`)));
}

/** Pages for the registry, each with its file. */
export function pagesOf(parts: OwnerParts, defined: readonly PageWithFile[]): OwnerPage[] {
  return defined.flatMap(({ info, filePath, show, file }) => [
    shopPage(info.path, { ...info, show: (visit) => show(parts, visit) }),
    shopPage(filePath ?? `${info.path}.csv`, { show: (visit) => file(parts, visit) }),
  ]);
}
