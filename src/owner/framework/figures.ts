import type { Answer, AnswerBody } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { Asset } from '../../http/look/look.ts';
import { type Segment, parseSegment } from '../../metrics/segments/segment.ts';
import { notFoundPage } from '../message-pages.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import type { PageInfo } from '../site.ts';
import { page } from '../ui/answers.ts';
import { alert, layout, shopPath, sourcesLink } from '../ui/layout.ts';
import { periodPicker } from '../view/picker.ts';
import { type View, understood, viewOf, viewPath } from '../view/view.ts';
import { tableFile } from './csv.ts';
import type { Exhibit } from './exhibits.ts';
import { type PageWithFile, fileOrPage, ifInvalid, problemOf } from './page.ts';

type Path = `/app${string}`;

/** What every address of a page of figures says. */
interface Chosen {
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
export interface Pickers<V extends Chosen> {
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
interface FiguresPage<V extends Chosen, Data, Beside> extends Omit<PageInfo, 'right' | 'label'> {
  readonly title: string;
  readonly assets: readonly Asset[];
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

export function definePage<V extends Chosen, Data, Beside = never>(
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
        return page(layout(visit, { title, content, assets }), 400);
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
      return page(layout(visit, { title, content, assets }));
    }
    const exhibits = definition.exhibits(visit, data).map((each) => {
      const { by } = files;
      const more = by === undefined ? {} : { [by]: each.id };
      return each.show(pickers.pathOf(shopPath(shop, files.path), view, more));
    });
    const content = html`${pickers.show(visit, path)} ${definition.answer(visit, data)}
    ${definition.body(visit, data, exhibits, beside)}`;
    const action = choices && segmentPicker(visit, view.segment, choices, path);
    return page(layout(visit, { title, content, action, assets }));
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

/** What will be on a page, and where its data comes from. */
export function nothingYet(visit: ShopVisit, title: string, text: string): Html {
  return html`<div class="card">
    <h2>${title}</h2>
    <p>${text}</p>
    <p>${sourcesLink(visit)}</p>
  </div>`;
}
