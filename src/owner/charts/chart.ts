import { scaleBand, scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { csvLink } from '../framework/csv.ts';
import { day } from '../../metrics/bounds.ts';
import { hiddenRest } from '../ui/elements.ts';
import { type TableColumn, classOf, plainTable } from '../ui/table.ts';
import type { Tone } from '../ui/labels.ts';

export interface Chart extends Plot {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  /** The chart's answer for the whole period, and for the period before it if the shop has its data. */
  readonly headline: { readonly now: string; readonly before?: string | undefined };
  /** The time zone, and what else explains the chart. */
  readonly caption: string;
  readonly timeHeading: string;
  /** The time that is selected first with the keyboard. */
  readonly initial: 'first' | 'last';
  readonly format: (value: number) => string;
  readonly isMoney: boolean;
  /** What its times are, and could be; absent if they cannot be chosen. */
  readonly grains?: { readonly drawn: Grain; readonly offered: readonly Grain[] };
}

/** How long each time of a chart is. */
export type Grain = 'day' | 'week' | 'month';

/**
 * A chart that works without scripts; a script adds the values at the pointer and for the arrow keys, and makes bars
 * links.
 * @param tablePath the page with its table, loaded in place by a script; undefined if it is shown
 */
export function chart(
  parts: Chart,
  csv: `/app${string}`,
  {
    switches,
    tablePath,
  }: { readonly switches?: Html; readonly tablePath?: string | undefined } = {},
): Html {
  const { id, title, headline, caption, series, initial, times, notes } = parts;
  return html`<figure
    class="chart"
    data-first="${initial === 'first' ? 0 : times.length - 1}"
    data-times="${times.map(({ full }) => full).join('|')}"
    ${times[0]?.first && html`data-days="${daysOf(times)}"`}
    ${notes && html`data-notes="${notes.join('|')}"`}
  >
    <figcaption>
      <h2 id="${id}"><small>${title}</small> <span class="headline">${headline.now}</span></h2>
      ${switches} ${headline.before && html`<p class="quiet">${headline.before}</p>`}
      <p class="quiet">${caption}</p>
    </figcaption>
    ${legend(series)} ${drawing(parts)}
    <div class="values">
      ${
        tablePath === undefined
          ? html`<details open>
              <summary>Table${hiddenRest(`of ${title}`)}</summary>
              <div class="scroll" tabindex="0" role="group" aria-labelledby="${id}">
                ${table(parts)}
              </div>
            </details>`
          : html`<a href="${tablePath}" data-loads=".chart .values"
              >Table${hiddenRest(`of ${title}`)}</a
            >`
      }
      ${csvLink(csv)}
    </div>
  </figure>`;
}

/** The first day, and how many each time has: they follow one another. */
function daysOf(times: readonly Time[]): string {
  const lengths = times.map(({ first, last }) => (Date.parse(last) - Date.parse(first)) / day + 1);
  return [times[0]?.first, ...lengths].join('|');
}

/** Which series is which, if there are several or a period compared with. */
function legend(series: readonly Series[]): Html | undefined {
  const hasBefore = series.some(({ before }) => before !== undefined);
  if (series.length === 1 && !hasBefore) return undefined;
  return html`<p class="legend">
    ${series.map(({ name, tone }) => html`<span class="series ${tone}">${name}</span>`)}
    ${hasBefore && html`<span class="series before">Before</span>`}
  </p>`;
}

/** How a value is written; one that cannot be known differs from 0. */
function show(value: Value | undefined, format: Chart['format']): string {
  return value === null || value === undefined ? '–' : format(value);
}

/** The columns of a chart's table, after those of the times. */
export function columnsOf(series: Chart['series']): Pick<Series, 'name' | 'values' | 'hrefs'>[] {
  return [
    ...series,
    ...series.flatMap(({ name, before }) =>
      before ? [{ name: `${name}, before`, values: before }] : [],
    ),
  ];
}

/** A cell of a time or value that may lead to its rows. */
function link(href: string | undefined, text: string): HtmlValue {
  return href === undefined ? text : html`<a href="${href}">${text}</a>`;
}

const table = ({ series, times, timeHeading, hrefs, notes, format }: Chart): Html =>
  plainTable(
    [...times.keys()],
    [
      [timeHeading, (index) => link(hrefs?.[index], times[index]?.full ?? ''), 'head'],
      ...columnsOf(series).map((each): TableColumn<number> => [
        each.name,
        (index) => link(each.hrefs?.[index], show(each.values[index], format)),
      ]),
      ...(notes ? [['Noted', (index: number) => notes[index]] as const] : []),
    ],
    { look: 'data' },
  );

/** A value that cannot be known is null. */
type Value = number | null;

export interface Series {
  readonly name: string;
  /** Absent of what is no state, such as an amount in all. */
  readonly tone?: Tone | undefined;
  readonly values: readonly Value[];
  /** The same for the period compared with: a thin line. */
  readonly before?: readonly Value[] | undefined;
  /** Where each of its bars leads, if not all series lead to the same. */
  readonly hrefs?: readonly string[] | undefined;
}

export interface Time {
  readonly full: string;
  /** The first and the last day, such as 2026-11-20, for files and links. */
  readonly first: string;
  readonly last: string;
  /** On the axis, where it has room. */
  readonly tick?: Tick | undefined;
}

export interface Tick {
  readonly label: string;
  /** Its month of the year from 0 on, or how many come before it: if not all have room, those of every second stay. */
  readonly place: number;
  /** Such a tick stays longer than the others. */
  readonly saysYear?: boolean;
}

/** What a chart draws. */
interface Plot {
  readonly marks: 'line' | 'bars';
  readonly series: readonly Series[];
  /** Days or weeks, as `timesOf` makes them. */
  readonly times: readonly Time[];
  /** Where each time leads: the rows that it counts. */
  readonly hrefs?: readonly string[] | undefined;
  /** What else happened in each time, such as a change of prices: marks on the axis. */
  readonly notes?: readonly (string | undefined)[] | undefined;
  /** For the axis. */
  readonly formatShort: (value: number) => string;
  /** The smallest step of the axis. */
  readonly unit: number;
}

const height = 100;
/** The approximate number of steps on the axis. */
const tickCount = 3;

/** Maps a value to its y coordinate. */
type Scale = (value: number) => number;

/**
 * The part of a chart without words. Each time has a band of width 1. CSS stretches it to the page's width, but
 * not the width of its lines.
 */
function drawing(parts: Chart): Html {
  const { series, times, unit, marks, formatShort } = parts;
  const values = series.flatMap((each) => [...each.values, ...(each.before ?? [])]).filter(isKnown);
  const least = Math.min(...values, 0);
  const y = scaleLinear([least, Math.max(...values, 0, least + unit)], [height, 0]).nice(tickCount);
  const ticks = y.ticks(tickCount).filter((tick) => isWhole(tick / unit));
  const zero = Math.min(Math.max(y(0), 0), height);
  return html`<div class="plot">
    <ol class="scale" aria-hidden="true">
      ${ticks.toReversed().map((tick) => html`<li>${formatShort(tick)}</li>`)}
    </ol>
    <svg
      class="marks"
      viewBox="0 0 ${times.length} ${height}"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path
        class="rule"
        d="${ticks.map((tick) => `M0,${tenth(y(tick))}H${times.length}`).join('')}"
      />
      ${marks === 'line' ? series.map((each) => lines(parts, each, y, zero)) : bars(parts, y, zero)}
      ${marks === 'line' ? html`<line class="cursor" x1=".5" x2=".5" y2="${height}" />` : html`<rect class="cursor" width="1" height="${height}" />`}
    </svg>
    ${labels(parts, y)} ${timeAxis(times)}
  </div>`;
}

/** The pixels of a drawing that CSS gives one height. */
const pixels = (y: number) => y * 1.6;
/** Two lines of text need so many. */
const lineHeight = 14;

/** The last values where lines and bars of one series end, and marks of what else happened. */
function labels({ series, marks, notes = [], formatShort }: Plot, y: Scale): Html {
  // Within the drawing, the largest first.
  let free = -lineHeight;
  const ends = (marks === 'line' || series.length === 1 ? series : [])
    .flatMap(({ tone, values }) => {
      const index = values.findLastIndex(isKnown);
      const value = values[index];
      return isKnown(value) ? [{ tone, value, at: (index + 0.5) / values.length }] : [];
    })
    .toSorted((a, b) => b.value - a.value)
    .map(({ tone, value, at }) => {
      const above = Math.max(pixels(y(value)) - 6, 8);
      const next = free + lineHeight;
      // Just below its end if another is above it, so that neither is over a line.
      free = above >= next ? above : Math.max(above + 6 + lineHeight, next);
      return html`<text class="${tone}" x="${round(at * 100)}%" y="${round(free)}"
        >${formatShort(value)}</text
      >`;
    });
  return html`<svg class="ends" width="100%" height="160" aria-hidden="true">
    ${ends}
    ${notes.flatMap((note, index) =>
      note === undefined
        ? []
        : html`<circle cx="${round(((index + 0.5) / notes.length) * 100)}%" cy="160" r="4" />`,
    )}
  </svg>`;
}

/** Texts at their places, which a stretched drawing would distort. */
function timeAxis(times: readonly Time[]): Html {
  const marked = times.flatMap(({ tick }, index): Placed[] => {
    const at = (index + 0.5) / times.length;
    // Longer ones would leave the page.
    return tick ? [{ ...tick, at, isEnd: at > 0.95 && tick.label.length > 4 }] : [];
  });
  const shown = Object.entries(rooms).map(
    ([room, width]) => [room, new Set(fitting(marked, width))] as const,
  );
  return html`<svg class="dates" width="100%" height="16" aria-hidden="true">
    ${marked.flatMap((tick) => {
      const hidden = shown.flatMap(([room, ticks]) => (ticks.has(tick) ? [] : `not-${room}`));
      if (hidden.length === shown.length) return [];
      return html`<text
        x="${round(tick.at * 100)}%"
        ${classOf([...hidden, ...(tick.isEnd ? ['end'] : [])].join(' '))}
        >${tick.label}</text
      >`;
    })}
  </svg>`;
}

interface Placed extends Tick {
  /** From 0 to 1. */
  readonly at: number;
  /** Whether the text ends there, and else has its middle there. */
  readonly isEnd: boolean;
}

/** The least width of the axis in pixels, by the width of the plot, whose limits are those of charts.css. */
const rooms = { narrow: 240, medium: 390, wide: 600 } as const;

/** As many ticks as have room: at regular distances, and as long as possible those that say the year. */
function fitting(ticks: readonly Placed[], width: number): readonly Placed[] {
  const years = ticks.filter(({ saysYear }) => saysYear);
  const choices = [
    ...[1, 2, 3, 4, 6].map((step) =>
      ticks.filter(({ place, saysYear }) => saysYear || place % step === 0),
    ),
    ...[1, 2, 5, 10].map((step) => years.filter((_, index) => index % step === 0)),
  ];
  return choices.find((each) => haveRoom(each, width)) ?? [];
}

function haveRoom(ticks: readonly Placed[], width: number): boolean {
  const ends = ticks.map(({ label, at, isEnd }) => {
    const size = [...label].reduce((sum, each) => sum + (each < '\u2e80' ? 6.5 : 12), 6);
    const left = at * width - (isEnd ? size : size / 2);
    return [left, left + size] as const;
  });
  return ends.every(([left], index) => left >= (ends[index - 1]?.[1] ?? -Infinity));
}

/** The middle of a time's band. */
const middle = (_: unknown, index: number) => index + 0.5;

/** What the script shows of a series, and where it leads. */
function dataOf(
  { times, format, hrefs: ofAll }: Chart,
  name: string,
  values: readonly Value[],
  hrefs = ofAll,
): Html {
  // Most differ by their days only.
  const templates = hrefs?.map((href, index) => {
    const { first = '', last = '' } = times[index] ?? {};
    return href.replace(first, '{first}').replace(last, '{last}');
  });
  const shown = new Set(templates).size === 1 ? templates?.slice(0, 1) : hrefs;
  return html`data-name="${name}"
  data-values="${values.map((value) => show(value, format)).join('|')}"
  ${shown && html`data-hrefs="${shown.join('|')}"`}`;
}

/** The values of the period compared with, which lead nowhere. */
const lineBefore = (
  parts: Chart,
  name: string,
  values: readonly Value[],
  path: string,
  left?: number,
) =>
  html`<path
    class="line before"
    ${left !== undefined && html`transform="translate(${round(left)})"`}
    d="${path}"
    ${dataOf({ ...parts, hrefs: undefined }, `${name}, before`, values)}
  />`;

function lines(
  parts: Chart,
  { name, tone, values, before, hrefs }: Series,
  y: Scale,
  zero: number,
) {
  const lineOf = line<Value>(middle, (value) => y(value ?? 0))
    .digits(1)
    .defined(isKnown);
  const areaOf = area<Value>(middle, zero, (value) => y(value ?? 0))
    .digits(1)
    .defined(isKnown);
  return html`<path class="area ${tone}" d="${areaOf(values) ?? ''}" />
    ${before && lineBefore(parts, name, before, lineOf(before) ?? '')}
    <path
      class="line ${tone}"
      d="${lineOf(values) ?? ''}"
      ${dataOf(parts, name, values, hrefs)}
    />`;
}

/** Within each time's band, what is left free beside its bars. */
const padding = 0.14;

/** The bars of all series, and where those of the period compared with ended, as a line with a step for each. */
function bars(parts: Chart, y: Scale, zero: number): Html[] {
  const { series, times } = parts;
  const place = scaleBand(series.keys(), [padding, 1 - padding]).paddingInner(0.06);
  const width = round(place.bandwidth());
  const bar = (value: Value, index: number) =>
    value === null || value === 0 ? '' : `M${index},${tenth(zero)}V${tenth(y(value))}`;
  const step = (value: Value, index: number) =>
    value === null ? '' : `M${index},${tenth(y(value))}h${width}`;
  return series.map(({ name, tone, values, before, hrefs }, of) => {
    const left = place(of) ?? 0;
    // Moved as a whole, because a fraction at each bar would weigh more.
    return html`<path
        class="bars ${tone}"
        stroke-width="${width}"
        transform="translate(${round(left + place.bandwidth() / 2)})"
        d="${values.map(bar).join('')}"
        ${dataOf(parts, name, values, hrefs)}
      />
      ${before && lineBefore(parts, name, before, before.slice(0, times.length).map(step).join(''), left)}`;
  });
}

function isKnown(value: Value | undefined): value is number {
  return value !== null && value !== undefined;
}

/** Whether a tick is a multiple of the smallest step, apart from floating-point error. */
function isWhole(steps: number): boolean {
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}

/** Hundredths are finer than any screen, as short as SVG takes them. */
const round = (value: number) => String(Math.round(value * 100) / 100).replace(/^(-?)0\./, '$1.');
/** Tenths are, of the height of a drawing. */
export const tenth = (value: number) => round(Math.round(value * 10) / 10);
