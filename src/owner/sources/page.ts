import type { Answer } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { Authorization, Platform } from '../../platforms/platform.ts';
import type { PushSourceListing } from '../../store/push/sources.ts';
import { listFeeds } from '../../store/feeds/feeds.ts';
import { countUndated } from '../../store/records/sightings.ts';
import { listKeepers } from '../../platforms/keeper.ts';
import { readPushSources } from './push.ts';
import { customerLinkPath } from './customer-link.ts';
import { connectedPart, connectionState, keepersPart } from './connected.ts';
import { type Source, type Sources, arrivals, undatedNote } from './sources.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { page } from '../ui/page.ts';
import { uploadSection } from './upload/stages.ts';
import { countOf, showAgo, showTime, showDay } from '../ui/formats.ts';
import { tiers } from '../../access/tiers.ts';
import { overlapUntil } from '../../push/sources.ts';
import { isVendor, vendors } from './vendors.ts';
import { shopPath } from '../site.ts';
import { tierNames } from '../ui/labels.ts';
import { hiddenRest, notice } from '../ui/elements.ts';
import { inputField } from '../ui/fields.ts';
import { hiddenHead, plainTable } from '../ui/table.ts';

/** What went wrong when the owner tried to connect a platform. */
export interface Problem {
  readonly platform: string;
  readonly text: string;
  /** The account that the owner named. */
  readonly given: string;
}

export async function sourcesPage(
  parts: OwnerParts,
  all: Sources,
  visit: ShopVisit,
  problem?: Problem,
): Promise<Answer> {
  const { id } = visit.shop;
  const sql = parts.store.write;
  const [sources, push, upload, feeds, keepers, undated] = await Promise.all([
    all.list(id),
    readPushSources(parts, id),
    parts.uploads.find(id),
    listFeeds(sql, id),
    listKeepers(sql, id),
    countUndated(sql, id),
  ]);
  const now = parts.clock.now();
  const content = html`
    ${notice(problem ? undefined : doneNotice(visit))}
    ${sources.map((source) =>
      card(visit, source, now, problem?.platform === source.platform.name ? problem : undefined),
    )}
    ${uploadSection(visit, upload)} ${pushSection(visit, push, now)}
    ${
      feeds.length === 0
        ? html`<section>
            <h2>What has arrived</h2>
            <p class="quiet">
              Nothing yet. Data from a connected platform and from imported files is listed here.
            </p>
          </section>`
        : arrivals(visit, feeds, { title: 'What has arrived' })
    }
    ${keepersPart(keepers)} ${undatedNote(visit, undated)}
    <p>
      <a href="${shopPath(visit.shop, customerLinkPath)}">Links to customers</a>: where the ids of
      customers lead, at the platform or in your own system.
    </p>
  `;
  const status = problem ? 422 : 200;
  return page(visit, { title: 'Sources', content, status });
}

const notices: ReadonlyMap<string | null, string> = new Map([
  [
    'disconnected',
    'Disconnected. The data that is here stays, belongs to no platform from now on, and changes only by files, pushes and other sources.',
  ],
  ['removed', 'Removed. Nothing was connected, and no data has changed.'],
  ['replaced', 'Replaced. The data that is here stays, and the sync goes on.'],
  ['file-removed', 'File removed. Nothing was stored.'],
  ['push-revoked', 'Push source revoked. What it has sent stays.'],
  ['push-rotated', 'Secret replaced.'],
  [
    'push-rotated-before',
    'The secret was already replaced after you opened that page. A secret that was made here is shown only once: if you did not copy it, rotate it again.',
  ],
  ['push-created', 'The push source was already created.'],
  [
    'push-already',
    'The push source was already created, and its secret is shown only once. If you did not copy it, rotate it.',
  ],
]);

function doneNotice({ query, shop }: ShopVisit): HtmlValue {
  const done = query.get('done');
  return done === 'connected'
    ? html`Connected. The first figures appear on the
        <a href="${shopPath(shop)}">overview</a> within minutes.`
    : notices.get(done);
}

function card(visit: ShopVisit, source: Source, now: number, problem: Problem | undefined): Html {
  const { name, title } = source.platform;
  const { dot, word } = connectionState(source);
  return html`<section class="card source" id="${name}" aria-labelledby="${name}-title">
    <h2 id="${name}-title">${title} <span class="dot ${dot}">${word}</span></h2>
    ${problem && html`<p class="alert" role="alert" id="${name}-problem">${problem.text}</p>`}
    ${source.state === 'connected' && connectedPart(visit, source, now)}
    ${
      source.state === 'free' &&
      source.authorization &&
      connectForm(visit, source.platform, source.authorization, problem)
    }
    ${
      source.state === 'free' &&
      source.platform.form &&
      html`<p>${source.platform.form.about}</p>
        <p class="actions">
          <a class="button" href="${shopPath(visit.shop, `/sources/${name}/form`)}"
            >Connect ${title}</a
          >
        </p>`
    }
    ${source.state === 'off' && offPart(source)}
  </section>`;
}

function connectForm(
  { shop }: ShopVisit,
  { name, title }: Platform,
  { accountLabel, accountHint }: Authorization,
  problem: Problem | undefined,
): Html {
  return html`<p>
      Connect your ${title} shop, and its subscriptions, plans and payments arrive by themselves and
      stay up to date.
    </p>
    <form method="get" action="${shopPath(shop, `/sources/${name}/connect`)}">
      ${inputField(
        {
          id: `${name}-account`,
          name: 'account',
          label: accountLabel,
          hint: accountHint,
          value: problem?.given ?? '',
          isInvalid: problem !== undefined,
          problem: `${name}-problem`,
        },
        html`autocomplete="off" autocapitalize="none" spellcheck="false" inputmode="url" required`,
      )}
      <button>Connect ${title}</button>
    </form>`;
}

function offPart({ platform, authorization, missing }: Source & { state: 'off' }): Html {
  const { title, form } = platform;
  if (!authorization && !form) {
    return html`<p>Only the operator of this service can connect a shop to ${title}.</p>`;
  }
  return html`<p>
      You cannot connect ${title} yet, because this service is not set up for it. Ask its operator.
    </p>
    <p class="quiet">For the operator: set ${list(missing)}, then restart the service.</p>`;
}

const list = (names: readonly string[]) =>
  new Intl.ListFormat('en-GB')
    .formatToParts(names)
    .map(({ type, value }) => (type === 'element' ? html`<code>${value}</code>` : html`${value}`));

/** The sources that may push records, and how to get one. */
function pushSection(visit: ShopVisit, sources: readonly PushSourceListing[], now: number): Html {
  const { shop } = visit;
  const { hasApiAccess } = tiers[shop.tier];
  return html`<section class="card source" id="push" aria-labelledby="push-title">
    <h2 id="push-title">Sent as it happens</h2>
    <p>
      Stripe, Paddle, Churnkey, Chargebee Retention or your own programs can send changes as they
      happen, signed with a secret.
    </p>
    ${sources.length === 0 ? undefined : sourceTable(visit, sources, now)}
    ${sources.flatMap((source) => refusedPart(visit, source, now) ?? [])}
    ${
      !hasApiAccess
        ? html`<p class="quiet">
            Available from the Growth tier. ${shop.name} is on the ${tierNames[shop.tier]} tier, so
            what is sent is refused.
          </p>`
        : html`<p class="actions">
            <a class="button" href="${shopPath(shop, '/sources/push/new')}">Create push source</a>
          </p>`
    }
  </section>`;
}

function sourceTable(visit: ShopVisit, sources: readonly PushSourceListing[], now: number): Html {
  const path = shopPath(visit.shop, '/sources/push');
  const link = ({ sourceId, name }: PushSourceListing, action: string, label: string) =>
    html`<a href="${path}/${sourceId}/${action}">${label}${hiddenRest(name)}</a> `;
  const oldSecret = (source: PushSourceListing) => {
    const until = overlapUntil(source, now);
    return until && html`<span>Old secret works until ${showTime(visit, until)}</span>`;
  };
  return plainTable(sources, [
    [
      'Source',
      ({ name, sourceId }) => html`${name} <code class="quiet">${sourceId}</code>`,
      'head',
    ],
    ['From', ({ scheme }) => (isVendor(scheme) ? vendors[scheme].title : 'Own program')],
    ['Created', ({ createdAt }) => showDay(visit, createdAt)],
    ['Last request', ({ lastBatchAt }) => (lastBatchAt ? showAgo(lastBatchAt, now) : 'None yet')],
    [
      hiddenHead('Status'),
      (source) =>
        html`${oldSecret(source)}
        ${isVendor(source.scheme) ? link(source, 'setup', 'Set up') : undefined}
        ${link(source, 'rotate', 'Rotate')} ${link(source, 'revoke', 'Revoke')}`,
      'state',
    ],
  ]);
}

/** What was refused lately, after the sender was told that it had arrived. */
function refusedPart(visit: ShopVisit, source: PushSourceListing, now: number): Html | undefined {
  const { name, scheme, refusedRecords: count, lastRefusedAt, lastRefusedReason } = source;
  if (lastRefusedAt === null) return undefined;
  return html`<p>
    <span class="dot risk"></span><strong>${name}</strong>:
    ${countOf(visit, count, 'record was', 'records were')} refused in the last 30 days. The last
    came ${showAgo(lastRefusedAt, now)}: “${lastRefusedReason ?? ''}”.
    ${
      isVendor(scheme)
        ? `If you cannot change that at ${vendors[scheme].title}, tell the operator of this service.`
        : 'Correct what sends them, and send them again.'
    }
  </p>`;
}
