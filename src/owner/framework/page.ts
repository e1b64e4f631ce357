import type { Answer as Response, AnswerBody } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { AssetName } from '../ui/assets.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { notFoundPage } from '../message-pages.ts';
import { ServiceError } from '../../errors.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf, shopPage } from '../pages.ts';
import { readSegmentChoices, segmentPicker } from '../segments/picker.ts';
import { type Path, type PageInfo, type ShopPageInfo, shopPath } from '../site.ts';
import { page, redirect } from '../ui/page.ts';
import { choices, periodPicker, viewProblem } from '../view/picker.ts';
import { type View, segmentOf, understood, viewOf, viewPath } from '../view/view.ts';
import type { Chart } from '../charts/chart.ts';
import { withEvents } from '../charts/notes.ts';
import { type Choices, joined, problemIn } from '../view/choices.ts';
import { csvFile } from './csv.ts';
import { type Exhibit, chartExhibit } from './exhibits.ts';
import { alert } from '../ui/elements.ts';
import { isQuick } from '../../metrics/explain/explain.ts';
import { findFirstDay } from '../../metrics/history.ts';
import { type Figures, readFigures } from '../../metrics/segments/figures.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import { appendEntry } from '../../store/owners/audit.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';

/** A page of a shop, and the same as a file. */
export interface PageWithFile {
  readonly info: ShopPageInfo;
  /** If it is not that of the page with `.csv`. */
  readonly filePath?: string;
  show(parts: OwnerParts, visit: ShopVisit): Promise<Response>;
  file(parts: OwnerParts, visit: ShopVisit): Promise<Response<AnswerBody>>;
}

/** What every address of a page of figures says. */
type AnyView = Pick<View, 'segment' | 'now' | 'problem'>;

/** A visit to a page of figures, with what its address says. */
export interface FiguresVisit<V = View> extends ShopVisit {
  readonly parts: OwnerParts;
  readonly view: V;
  /** Whether the shop is small enough for what takes long and was not asked for. Reads it once. */
  isQuick(): Promise<boolean>;
}

/** What the address of a page chooses, and the links and forms that choose it. */
export interface Pickers<V extends AnyView> {
  viewOf(query: URLSearchParams, now: number): V;
  /** @param path of the page, without its query */
  show(visit: FiguresVisit<V>, path: Path): Html;
  /** What is wrong with the address. */
  problem(visit: FiguresVisit<V>): Html | undefined;
  /** Whether the page has figures of a segment. */
  readonly hasSegment: boolean;
  pathOf(path: Path, view: V, more: Readonly<Record<string, string>>): Path;
}

export const period: Pickers<View> = {
  viewOf,
  show: (visit, path) => periodPicker(visit, visit.view, path),
  problem: (visit) => viewProblem(visit, visit.view),
  hasSegment: false,
  pathOf: viewPath,
};

export const periodAndSegment: Pickers<View> = {
  ...period,
  viewOf: (query, now) => viewOf(query, now, parseSegment(query)),
  hasSegment: true,
};

/** What a page says first. */
interface Answer {
  /** One or two sentences that say it all. */
  readonly text: HtmlValue;
  /** What it is of, and how it is counted. */
  readonly note?: HtmlValue;
  /** What else comes before the chart. */
  readonly more?: HtmlValue;
  /** What of the address cannot be shown, if only its figures tell. */
  readonly problem?: string | undefined;
}

/**
 * A page of figures, as data. All have one skeleton: title, period and segment in a row, the answer, a chart, why, and
 * rows.
 */
interface FiguresPage<V extends AnyView, Data, Beside> extends Omit<PageInfo, 'right' | 'label'> {
  readonly title: string;
  readonly assets: readonly AssetName[];
  readonly pickers: Pickers<V>;
  /** The address of its charts and tables as files, and the parameter that names one; without, its first table is. */
  readonly files: { readonly path: string; readonly by?: string };
  /** Everything that its figures need, as of one instant; undefined for a shop without data. */
  read(visit: FiguresVisit<V>): Promise<Data | undefined>;
  /** What the page shows beside its figures, read at the same time; its file does without. */
  beside?(visit: FiguresVisit<V>, reading: Promise<Data | undefined>): Promise<Beside>;
  answer(
    visit: FiguresVisit<V>,
    data: Data,
    beside: Beside | undefined,
    charts: readonly Chart[],
  ): Answer;
  /** Of which one is drawn: the one that the address names, or the first. */
  charts(visit: FiguresVisit<V>, data: Data): readonly Chart[];
  /** What explains the change of its figure, read at the same time; its id is `whyId`. */
  readonly why?: {
    /** What its address can choose. */
    readonly choices: Choices;
    read(visit: FiguresVisit<V>): Promise<Exhibit>;
  };
  /** What else the address can choose, beside the period and the segment. */
  readonly choices?: Choices;
  /** What its figures are made of. */
  tables(visit: FiguresVisit<V>, data: Data): readonly Exhibit[];
  /** Who and what it is about, and notes on it. */
  rows?(visit: FiguresVisit<V>, data: Data, beside: Beside | undefined): HtmlValue;
  /** What it will show, for a shop without data. */
  empty(visit: FiguresVisit<V>, beside: Beside | undefined): Html | Promise<Html>;
}

/** The id of what explains a change; of the files, only its own reads it. */
export const whyId = 'why';

export function definePage<V extends AnyView, Data, Beside = never>(
  definition: FiguresPage<V, Data, Beside>,
): PageWithFile {
  const { title, assets, pickers, files } = definition;
  const info: ShopPageInfo = { ...definition, right: 'figures', label: title };
  const known: Choices = { ...grainChoices, ...definition.why?.choices, ...definition.choices };

  function open(parts: OwnerParts, visit: ShopVisit): FiguresVisit<V> {
    const { id } = visit.shop;
    const view = pickers.viewOf(visit.query, parts.clock.now());
    let quick: Promise<boolean> | undefined;
    return {
      ...visit,
      parts,
      view: { ...view, problem: joined([view.problem, problemIn(visit.query, known)]) },
      isQuick: () => (quick ??= parts.store.readRecent(id, ({ analyse }) => isQuick(analyse, id))),
    };
  }

  async function show(parts: OwnerParts, shopVisit: ShopVisit): Promise<Response> {
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

  async function showFigures(visit: FiguresVisit<V>): Promise<Response> {
    const { shop, view } = visit;
    const path = shopPath(shop, info.path);
    const reading = definition.read(visit);
    const [data, beside, why, choicesOfSegment] = await Promise.all([
      reading,
      definition.beside?.(visit, reading),
      definition.why?.read(visit),
      pickers.hasSegment ? readSegmentChoices(visit.parts, visit, view) : undefined,
    ]);
    const problem = pickers.problem(visit);
    const isWrong = visit.view.problem !== undefined;
    if (data === undefined) {
      const content = html`${problem} ${await definition.empty(visit, beside)}`;
      return page(visit, { title, content, assets, status: isWrong ? 400 : 200 });
    }
    // What a file has is what is shown.
    const chosen = Object.fromEntries(
      [...visit.query].filter(([name]) => Object.hasOwn(known, name)),
    );
    const drawn = (exhibit: Exhibit | undefined) => {
      const more = files.by === undefined ? {} : { [files.by]: exhibit?.id ?? '', ...chosen };
      return exhibit?.show(pickers.pathOf(shopPath(shop, files.path), view, more));
    };
    const charts = definition.charts(visit, data);
    const exhibits = definition.tables(visit, data);
    const tableIds = exhibits.map(({ id }) => id);
    const unknown = problemIn(visit.query, {
      ...(charts.length > 0 && { show: ['a chart', charts.map(({ id }) => id)] }),
      table: ['a table to open', ['open', ...tableIds]],
    });
    const {
      text,
      note,
      more,
      problem: also = unknown,
    } = definition.answer(visit, data, beside, charts);
    const tables = exhibits.flatMap((each) => drawn(each) ?? []);
    const content = html`${also === undefined ? problem : alert(also)}
      <p class="answer">${text}</p>
      ${note && html`<p class="quiet">${note}</p>`} ${more}
      ${drawn(await shownChart(visit, charts))} ${drawn(why)}
      ${tables.length > 0 && html`<div class="grid">${tables}</div>`}
      ${definition.rows?.(visit, data, beside)}`;
    const action = html`${pickers.show(visit, path)}
    ${choicesOfSegment && segmentPicker(visit, view.segment, choicesOfSegment, path)}`;
    return page(visit, { title, content, action, assets, status: isWrong || unknown ? 400 : 200 });
  }

  function file(parts: OwnerParts, shopVisit: ShopVisit): Promise<Response<AnswerBody>> {
    return fileOrPage(shopVisit, info.path, async () => {
      const visit = open(parts, shopVisit);
      const { shop, query } = visit;
      const { now } = understood(visit.view);
      const asked = files.by === undefined ? undefined : query.get(files.by);
      const [data, why] = await Promise.all([
        definition.read(visit),
        asked === whyId ? definition.why?.read(visit) : undefined,
      ]);
      if (data === undefined) return notFoundPage(visit);
      const chart = definition.charts(visit, data).find(({ id }) => id === asked);
      const exhibits = [
        ...definition.tables(visit, data),
        ...(chart ? [chartExhibit(shop, await withEvents(parts.store.write, visit, chart))] : []),
        ...(why ? [why] : []),
      ];
      const exhibit =
        files.by === undefined ? exhibits[0] : exhibits.find(({ id }) => id === asked);
      if (!exhibit) return notFoundPage(visit);
      const { rows, ...table } = exhibit.file();
      return csvFile({ shop, now, ...table, rows: [rows] });
    });
  }

  return { info, filePath: files.path, show, file };
}

/** The chart that the address names, with what leads to the others and to other spans of time. */
async function shownChart(
  visit: FiguresVisit<unknown>,
  charts: readonly Chart[],
): Promise<Exhibit | undefined> {
  const shown = charts.find(({ id }) => id === visit.query.get('show')) ?? charts[0];
  if (!shown) return undefined;
  const { offered = [], drawn } = shown.grains ?? {};
  const switches = html`<div class="switches">
    ${choices(
      visit,
      { name: 'show', label: 'Chart', shown: shown.id, initial: charts[0]?.id },
      charts.map(({ id, title }) => [id, title]),
    )}
    ${choices(
      visit,
      { name: 'per', label: 'Per', shown: drawn },
      offered.map((grain) => [grain, grainLabels[grain]]),
    )}
  </div>`;
  const { shop, parts, query, page: shownPage } = visit;
  const opened = new URLSearchParams(query);
  opened.set('table', 'open');
  const tablePath =
    query.get('table') === 'open'
      ? undefined
      : `${shopPath(shop, shownPage?.path ?? '')}?${opened}`;
  const marked = await withEvents(parts.store.write, visit, shown);
  return chartExhibit(shop, marked, { switches, tablePath });
}

const grainLabels = { day: 'Day', week: 'Week', month: 'Month' };

const grainChoices: Choices = { per: ['a span of time', Object.keys(grainLabels)] };

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
export async function ifInvalid<Given extends Response<AnswerBody>>(
  visit: ShopVisit,
  build: () => Promise<Given>,
  explain: (message: string) => Response | Promise<Response>,
): Promise<Given | Response> {
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
  build: () => Promise<Response<AnswerBody>>,
): Promise<Response<AnswerBody>> {
  return ifInvalid(visit, build, () => redirect(shopPath(visit.shop, `${path}?${visit.query}`)));
}

/** Pages for the registry, each with its file. */
export function pagesOf(parts: OwnerParts, defined: readonly PageWithFile[]): OwnerPage[] {
  return defined.flatMap(({ info, filePath, show, file }) => [
    shopPage(info.path, { ...info, show: (visit) => show(parts, visit) }),
    shopPage(filePath ?? `${info.path}.csv`, {
      right: info.right,
      acts: ['rows_exported'],
      stepUp: 'open',
      async show(visit) {
        const answer = await file(parts, visit);
        if (answer.status === 200) await noteExport(parts, visit, exportName(info, visit));
        return answer;
      },
    }),
  ]);
}

/** What was exported, by the path of its page, such as "customers/1151". */
function exportName({ path }: PageInfo, { params }: ShopVisit): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? '');
  return filled === '' ? 'the overview' : filled.slice(1);
}

/** Enters in the audit log that an owner gets a file of rows, unless only its headers are asked for. */
export async function noteExport({ store, clock }: OwnerParts, visit: ShopVisit, target: string) {
  if (visit.request.method === 'HEAD') return;
  const happened = { at: new Date(clock.now()), by: actorOf(visit), target };
  await appendEntry(store.write, visit.shop.id, { ...happened, what: 'rows_exported' });
}
