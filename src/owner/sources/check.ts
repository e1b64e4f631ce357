import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { type Keeper, listKeepers, namesOf } from '../../platforms/keeper.ts';
import { figures as known } from '../../metrics/figures.ts';
import type { ConnectedShop, Platform, SourcePart } from '../../platforms/platform.ts';
import { feedLabel } from '../../platforms/registry.ts';
import type { Rehearsal } from '../../push/upload/rehearsals.ts';
import type { RecordType } from '../../records/records.ts';
import type { Sql } from '../../store/database.ts';
import { listFeeds } from '../../store/feeds/feeds.ts';
import { listPresentKinds } from '../../store/records/export-dates.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../site.ts';
import { choiceField, hiddenFields, postForm } from '../ui/fields.ts';
import { problemId } from '../ui/elements.ts';
import { page } from '../ui/page.ts';
import { plainTable } from '../ui/table.ts';
import { refusedOf, rehearsalPart, takenOf, firstRecords, refusalsPart } from './upload/tables.ts';

const figuresOfPrices = [known.mrr, known.avgSubscriptionValue, known.upcomingRenewalsValue7d];

/** Where else a shop has data from, of the types that a source would bring. */
export interface Rivals {
  /** Of which there are records already. */
  readonly foreign: readonly RecordType[];
  /** The display names of what has delivered data. */
  readonly feeds: readonly string[];
  /** The other platforms that keep some of the types up. */
  readonly keepers: readonly Keeper[];
}

export async function readRivals(
  sql: Sql,
  shopId: number,
  platform: Platform,
  parts: readonly SourcePart[],
): Promise<Rivals> {
  const types = new Set(parts.flatMap((each) => each.types));
  const [all, foreign, feeds] = await Promise.all([
    listKeepers(sql, shopId),
    listPresentKinds(sql, shopId, types),
    listFeeds(sql, shopId),
  ]);
  const keepers = all
    .filter((each) => each.platform !== platform)
    .map((each) => ({ ...each, types: each.types.filter((type) => types.has(type)) }))
    .filter((each) => each.types.length > 0);
  const kept = new Set(keepers.flatMap((each) => each.types));
  return {
    foreign: foreign.filter((type) => !kept.has(type)),
    feeds: feeds.map(({ feed }) => feedLabel(feed)),
    keepers,
  };
}

/** The field that says whether a source may replace what is here. */
export const takeOver = 'take-over';
export const isTakenOver = (form: URLSearchParams) => form.get(takeOver) === 'yes';

const takeOverLabel = ({ title }: Pick<Platform, 'title'>) => `Let ${title} take them over`;

/** What to do about a box that was left unticked. @param otherwise what else there is */
export const untickedTakeOver = (platform: Pick<Platform, 'title'>, otherwise: string) =>
  `Tick “${takeOverLabel(platform)}”, or ${otherwise}.`;

/** Marks a box that the page's alert is about. */
const unticked = html`aria-invalid="true" aria-describedby="${problemId}" autofocus`;

/**
 * Asks whether a source may replace what is here; undefined if there is nothing else.
 * @param isUnticked whether the page's alert asks for it
 */
export function takeOverPart(
  platform: Platform,
  { foreign, feeds, keepers }: Rivals,
  isUnticked: boolean,
): Html | undefined {
  if (foreign.length === 0 && keepers.length === 0) return undefined;
  const { title } = platform;
  const from = new Intl.ListFormat('en-GB').format(feeds);
  return html`${keepers.map(
    ({ types, account, platform: keeper }) =>
      html`<p class="notice risk">
        The ${namesOf(types)} of this shop come from ${keeper.title} (${account}) only. Disconnect
        ${keeper.title} first if ${title} is to bring them.
      </p>`,
  )}
  ${
    foreign.length === 0
      ? undefined
      : html`<h2>This shop already has ${namesOf(foreign)}</h2>
          <p>
            No connection keeps them up${from && ` (this shop has data from: ${from})`}. From the
            first sync on, these types come from ${title} only: what has the same id is replaced,
            and what ${title} says is gone ends or is deleted.
          </p>
          ${choiceField(
            html`type="checkbox" name="${takeOver}" value="yes" ${isUnticked && unticked}`,
            takeOverLabel(platform),
          )}`
  }`;
}

/** The field that says that figures of money may be missing. */
export const withoutPrices = 'without-prices';
const withoutPricesLabel = 'Start without prices';
export const untickedPrices = `Tick “${withoutPricesLabel}”, or choose “Change” to correct the streams.`;
const isUnpriced = (parts: readonly SourcePart[]) => parts.some((part) => part.isUnpriced);

/** Whether an owner must still say that subscriptions may come without prices. */
export const lacksPrices = (parts: readonly SourcePart[], form: URLSearchParams) =>
  isUnpriced(parts) && form.get(withoutPrices) !== 'yes';

function pricesPart(parts: readonly SourcePart[], isUnticked: boolean): Html | undefined {
  if (!isUnpriced(parts)) return undefined;
  const names = figuresOfPrices.map(({ name }) => name);
  return html`<h2>No prices were found</h2>
    <p>
      All subscriptions would be stored at price 0, so these figures would be 0:
      ${new Intl.ListFormat('en-GB').format(names)}. Who is subscribed, and who is entitled, is
      right even so. To have prices, choose “Change” and correct the streams.
    </p>
    ${choiceField(
      html`type="checkbox" name="${withoutPrices}" value="yes" ${isUnticked && unticked}`,
      withoutPricesLabel,
    )}`;
}

/** What was found when an owner connected a source, as it is stored. */
export interface CheckedDraft {
  readonly title?: string;
  readonly notes?: readonly string[];
}

/** Why a source cannot be started yet, and what to do. */
export interface Obstacle {
  /** The name of a box that was left unticked. */
  readonly box?: string;
  readonly text: string;
}

interface Checked {
  readonly platform: Platform;
  readonly connected: ConnectedShop;
  readonly parts: readonly SourcePart[];
  readonly rivals: Rivals;
  readonly rehearsal: Rehearsal;
  readonly problem: Obstacle | undefined;
}

/** What a source has and what it would change, before its owner starts it. */
export function checkPage(visit: ShopVisit, checked: Checked): Answer {
  const { platform, connected, parts, rivals, rehearsal, problem } = checked;
  const { account, version, draft: stored } = connected;
  const draft = JSON.parse(stored ?? '{}') as CheckedDraft;
  const { name, title } = platform;
  const path = shopPath(visit.shop, `/sources/${name}`);
  const unknown =
    (rehearsal.kind === 'none' && rehearsal.problem) ||
    'There is too much data to rehearse the first sync.';
  const isUseless =
    rehearsal.kind === 'done' && refusedOf(rehearsal.counts) > 0 && takenOf(rehearsal.counts) === 0;
  const content = html`<section class="card" aria-labelledby="found-title">
      <h2 id="found-title">What was found</h2>
      <p>${draft.title === undefined ? account : `${draft.title}, at ${account}`}</p>
      ${plainTable(
        parts,
        [
          ['Stream', (part) => part.name, 'head'],
          ['Brings', ({ types }) => namesOf(types)],
          ['Is read', ({ reads }) => reads],
        ],
        { look: 'brief', caption: 'What would be read, and how' },
      )}
      ${
        draft.notes && draft.notes.length > 0
          ? html`<h3>Not sure</h3>
              <ul>
                ${draft.notes.map((note) => html`<li>${note}</li>`)}
              </ul>`
          : undefined
      }
    </section>
    ${rehearsalPart(visit, rehearsal, {
      what: 'first sync',
      path: `${path}/check`,
      none: html`<p>${unknown} The figures are known only once it has started.</p>`,
    })}
    ${
      rehearsal.kind === 'done' &&
      refusalsPart(visit, rehearsal.refused, refusedOf(rehearsal.counts), 'would be')
    }
    ${
      isUseless
        ? html`<p class="alert" role="alert">
            All records would be refused, so there is nothing to start yet. Correct the streams.
          </p>`
        : undefined
    }
    ${postForm(
      visit,
      `${path}/check`,
      html`${hiddenFields([['version', version]])}
        ${takeOverPart(platform, rivals, problem?.box === takeOver)}
        ${isUseless ? undefined : pricesPart(parts, problem?.box === withoutPrices)}
        <p class="actions">
          ${isUseless ? undefined : html`<button>Start</button>`}
          <a href="${path}/form">Change</a>
          <a href="${path}/disconnect">Remove</a>
        </p>`,
      'plain',
    )}
    ${rehearsal.kind === 'running' || !rehearsal.preview ? undefined : firstRecords(rehearsal.preview)}`;
  return page(visit, { title: `Check ${title}`, content, problem: problem?.text });
}
