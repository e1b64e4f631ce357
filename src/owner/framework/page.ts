import type { Answer, AnswerBody } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { AssetName } from '../ui/assets.ts';
import { type Segment, parseSegment } from '../../metrics/segments/segment.ts';
import { notFoundPage } from '../message-pages.ts';
import { ServiceError } from '../../errors.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { readSegmentChoices, segmentPicker } from '../segments/picker.ts';
import { type PageInfo, shopPath } from '../site.ts';
import { page, redirect } from '../ui/page.ts';
import { periodPicker } from '../view/picker.ts';
import { type View, segmentOf, understood, viewOf, viewPath } from '../view/view.ts';
import { tableFile } from './csv.ts';
import type { Exhibit } from './exhibits.ts';
import { alert } from '../ui/elements.ts';
import { findFirstDay } from '../../metrics/history.ts';
import { type Figures, readFigures } from '../../metrics/segments/figures.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';

/** A page of a shop, and the same as a file. */
export interface PageWithFile {
  readonly info: Omit<PageInfo, 'right'>;
  /** If it is not that of the page with `.csv`. */
  readonly filePath?: string;
  show(parts: OwnerParts, visit: ShopVisit): Promise<Answer>;
  file(parts: OwnerParts, visit: ShopVisit): Promise<Answer<AnswerBody>>;
}

type Path = `/app${string}`;

/** What every address of a page of figures says. */
interface AnyView {
  readonly segment: Segment | undefined;
  readonly now: number;
  readonly problem: string | undefined;
}

/** A visit to a page of figures, with what its address says. */
export interface FiguresVisit<V = View> extends ShopVisit {
  readonly parts: OwnerParts;
  readonly view: V;
}

/** What the address of a page chooses, and the links and forms that choose it. */
export interface Pickers<V extends AnyView> {
  viewOf(query: URLSearchParams, now: number): V;
  /** @param path of the page, without its query */
  show(visit: FiguresVisit<V>, path: Path): Html;
  /** Whether the page has figures of a segment. */
  readonly hasSegment: boolean;
  pathOf(path: Path, view: V, more: Readonly<Record<string, string>>): Path;
}

export const period: Pickers<View> = {
  viewOf,
  show: (visit, path) => periodPicker(visit, visit.view, path),
  hasSegment: false,
  pathOf: viewPath,
};

export const periodAndSegment: Pickers<View> = {
  ...period,
  viewOf: (query, now) => viewOf(query, now, parseSegment(query)),
  hasSegment: true,
};

/**
 * A page of figures, as data: the skeleton is the title with the segment, the period, the answer, and then what
 * explains it.
 */
interface FiguresPage<V extends AnyView, Data, Beside> extends Omit<PageInfo, 'right' | 'label'> {
  readonly title: string;
  readonly assets: readonly AssetName[];
  readonly pickers: Pickers<V>;
  /** The address of its charts and tables as files, and the parameter that names one; without, they are one file. */
  readonly files: { readonly path: string; readonly by?: string };
  /** Everything that its figures need, as of one instant; undefined for a shop without data. */
  read(visit: FiguresVisit<V>): Promise<Data | undefined>;
  /** What the page shows beside its figures, read at the same time; its file does without. */
  beside?(visit: FiguresVisit<V>, reading: Promise<Data | undefined>): Promise<Beside>;
  /** One or two sentences that say it all. */
  answer(visit: FiguresVisit<V>, data: Data): Html;
  /** Its charts and tables. */
  exhibits(visit: FiguresVisit<V>, data: Data): readonly Exhibit[];
  /** What follows the answer, with the charts and tables as drawn. */
  body(
    visit: FiguresVisit<V>,
    data: Data,
    exhibits: readonly Html[],
    beside: Beside | undefined,
  ): Html;
  /** What it will show, for a shop without data. */
  empty(visit: FiguresVisit<V>): Html | Promise<Html>;
}

export function definePage<V extends AnyView, Data, Beside = never>(
  definition: FiguresPage<V, Data, Beside>,
): PageWithFile {
  const { title, assets, pickers, files } = definition;
  const info: Omit<PageInfo, 'right'> = { ...definition, label: title };

  const open = (parts: OwnerParts, visit: ShopVisit): FiguresVisit<V> => ({
    ...visit,
    parts,
    view: pickers.viewOf(visit.query, parts.clock.now()),
  });

  async function show(parts: OwnerParts, shopVisit: ShopVisit): Promise<Answer> {
    const visit = open(parts, shopVisit);
    // The rows beside the figures may have filters.
    return ifInvalid(
      visit,
      () => showFigures(visit),
      (message) => {
        const content = problemOf(message, shopPath(visit.shop, info.path));
        return page(visit, { title, content, assets, status: 400 });
      },
    );
  }

  async function showFigures(visit: FiguresVisit<V>): Promise<Answer> {
    const { shop, view } = visit;
    const path = shopPath(shop, info.path);
    const reading = definition.read(visit);
    const [data, beside, choices] = await Promise.all([
      reading,
      definition.beside?.(visit, reading),
      pickers.hasSegment ? readSegmentChoices(visit.parts, shop) : undefined,
    ]);
    if (data === undefined) {
      const content = html`${alert(view.problem)} ${await definition.empty(visit)}`;
      return page(visit, { title, content, assets });
    }
    const exhibits = definition.exhibits(visit, data).map((each) => {
      const { by } = files;
      const more = by === undefined ? {} : { [by]: each.id };
      return each.show(pickers.pathOf(shopPath(shop, files.path), view, more));
    });
    const content = html`${pickers.show(visit, path)} ${definition.answer(visit, data)}
    ${definition.body(visit, data, exhibits, beside)}`;
    const action = choices && segmentPicker(visit, view.segment, choices, path);
    return page(visit, { title, content, action, assets });
  }

  function file(parts: OwnerParts, shopVisit: ShopVisit): Promise<Answer<AnswerBody>> {
    return fileOrPage(shopVisit, info.path, async () => {
      const visit = open(parts, shopVisit);
      const { shop, query } = visit;
      const { now } = understood(visit.view);
      const data = await definition.read(visit);
      const exhibits = data === undefined ? [] : definition.exhibits(visit, data);
      const name = files.by === undefined ? exhibits[0]?.id : query.get(files.by);
      const exhibit = exhibits.find(({ id }) => id === name);
      return exhibit ? tableFile({ shop, now, ...exhibit.file() }) : notFoundPage(visit);
    });
  }

  return { info, filePath: files.path, show, file };
}

/**
 * Reads figures of a view, as of one instant: of the shop, or of the segment in the address.
 * @param work gets the time of the shop's earliest data, epoch milliseconds, and whether it has the period compared with
 * @returns undefined for a shop without data
 */
export function readPeriods<Found>(
  store: Store,
  shop: Shop,
  view: View,
  work: (
    figures: Figures,
    known: { readonly firstDay: number; readonly hasBefore: boolean },
    from: ReadConnections,
  ) => Promise<Found>,
): Promise<Found | undefined> {
  return store.readRecent(shop.id, async (from) => {
    const firstDay = await findFirstDay(from.analyse, shop.id);
    if (firstDay === null) return undefined;
    const known = { firstDay, hasBefore: firstDay <= view.before.from };
    return readFigures(from, shop, segmentOf(view), (figures) => work(figures, known, from));
  });
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
