import type { UploadView } from '../../push/upload/uploads.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { Authorization, Platform } from '../../platforms/platform.ts';
import type { PushSourceListing } from '../../store/push/sources.ts';
import type { FeedStatus } from '../../store/feeds/feeds.ts';
import { arrivals } from '../dashboard/arrivals.ts';
import type { OwnerVisit, ShopVisit } from '../pages.ts';
import { page } from '../ui/answers.ts';
import { alert, layout, notice, shopPath, token } from '../ui/layout.ts';
import { connectedPart, connectionState } from './connected.ts';
import { pushSection } from './push-section.ts';
import type { Source } from './sources.ts';
import { uploadSection } from './upload/section.ts';

/** What went wrong when the owner tried to connect a platform. */
export interface Problem {
  readonly platform: string;
  readonly text: string;
  /** The account that the owner named. */
  readonly given: string;
}

interface SourcesPage {
  readonly sources: readonly Source[];
  /** Those that are not revoked. */
  readonly push: readonly PushSourceListing[];
  readonly upload: UploadView | undefined;
  readonly feeds: readonly FeedStatus[];
  readonly problem: Problem | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

export function sourcesPage(visit: ShopVisit, parts: SourcesPage): Answer {
  const { sources, push, upload, feeds, problem, now } = parts;
  const content = html`
    ${notice(problem ? undefined : doneNotice(visit))}
    ${sources.map((source) =>
      card(visit, source, {
        now,
        problem: problem?.platform === source.platform.name ? problem : undefined,
      }),
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
  `;
  const status = problem ? 422 : 200;
  return page(layout(visit, { title: 'Sources', content }), status);
}

function doneNotice({ query, shop }: ShopVisit): Html | undefined {
  switch (query.get('done')) {
    case 'connected':
      return html`Connected. The first figures appear on the
        <a href="${shopPath(shop)}">overview</a> within minutes.`;
    case 'disconnected':
      return html`Disconnected. The data that is here stays, but no longer changes.`;
    case 'file-removed':
      return html`File removed. Nothing was stored.`;
    case 'push-revoked':
      return html`Push source revoked. What it has sent stays.`;
    case 'push-rotated':
      return html`Secret replaced.`;
    case 'push-created':
      return html`The push source was already created.`;
    case 'push-already':
      return html`The push source was already created, and its secret is shown only once. If you did
      not copy it, rotate it.`;
    default:
      return undefined;
  }
}

interface CardParts {
  readonly problem: Problem | undefined;
  readonly now: number;
}

function card(visit: ShopVisit, source: Source, { problem, now }: CardParts): Html {
  const { name, title } = source.platform;
  const { dot, word } = connectionState(source);
  return html`<section class="card source" id="${name}" aria-labelledby="${name}-title">
    <h2 id="${name}-title">${title} <span class="dot ${dot}">${word}</span></h2>
    ${problem && html`<p class="alert" role="alert" id="${name}-problem">${problem.text}</p>`}
    ${source.state === 'connected' ? connectedPart(visit, source, now) : undefined}
    ${
      source.state === 'free' && source.authorization
        ? connectForm(visit, source.platform, source.authorization, problem)
        : undefined
    }
    ${source.state === 'off' ? offPart(source) : undefined}
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
      <p class="field">
        <label for="${name}-account">${accountLabel}</label>
        <input
          id="${name}-account"
          name="account"
          value="${problem?.given ?? ''}"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
          inputmode="url"
          required
          ${problem && html`aria-invalid="true" autofocus`}
          aria-describedby="${problem && `${name}-problem `}${name}-hint"
        />
        <span class="hint" id="${name}-hint">${accountHint}</span>
      </p>
      <button>Connect ${title}</button>
    </form>`;
}

function offPart({ platform: { title }, authorization, missing }: Source & { state: 'off' }): Html {
  if (!authorization) {
    return html`<p>Only the operator of this service can connect a shop to ${title}.</p>`;
  }
  return html`<p>
      You cannot connect ${title} yet, because this service is not set up for it. Ask its operator.
    </p>
    <p class="quiet">For the operator: set ${list(missing)}, then restart the service.</p>`;
}

function list(names: readonly string[]): Html[] {
  return names.map((name, index) => {
    const left = names.length - 1 - index;
    return html`<code>${name}</code>${left === 0 ? '' : left === 1 ? ' and ' : ', '}`;
  });
}

interface Consent {
  readonly platform: Platform;
  readonly authorization: Authorization;
  readonly account: string;
  /** Where the owner agrees. */
  readonly address: string;
}

/** What we will read, before the owner agrees at the platform. */
export function consentPage(visit: ShopVisit, consent: Consent): Answer {
  const { account, address, authorization } = consent;
  const { title } = consent.platform;
  const sources = shopPath(visit.shop, '/sources');
  return subpage(
    visit,
    `Connect ${title}`,
    html`<section class="card">
      <p>${title} will ask you to let this service read from <strong>${account}</strong>:</p>
      <ul>
        ${authorization.scopes.map((scope) => html`<li>${scope}</li>`)}
      </ul>
      <p>Nothing is changed there. You can disconnect at any time.</p>
      <p class="actions">
        <a class="button" href="${address}">Continue to ${title}</a>
        <a href="${sources}">Cancel</a>
      </p>
    </section>`,
  );
}

export function disconnectPage(
  visit: ShopVisit,
  { platform: { name, title }, account }: Source & { state: 'connected' },
): Answer {
  const sources = shopPath(visit.shop, '/sources');
  return subpage(
    visit,
    `Disconnect ${title}?`,
    html`<form class="card" method="post" action="${sources}/${name}/disconnect">
      ${token(visit)}
      <p>
        Changes at <strong>${account}</strong> no longer arrive from now on. The data that is here
        stays, and you can connect again.
      </p>
      <p class="quiet">
        We delete our access. To remove the app from ${title} as well, uninstall it there.
      </p>
      <p class="actions">
        <button class="danger">Disconnect ${title}</button>
        <a href="${sources}">Stay connected</a>
      </p>
    </form>`,
  );
}

function subpage(visit: ShopVisit, title: string, content: Html): Answer {
  return page(layout(visit, { title, content }));
}

/** For an answer that the platform did not sign, or that this session did not ask for. */
export function notConnectedPage(visit: OwnerVisit, { title }: Platform): Answer {
  const [only, ...others] = visit.shops;
  const content = html`
    ${alert(
      'The answer could not be verified: it is incomplete, or you started in another browser or before you signed in again.',
    )}
    <p>Nothing was changed. Open Sources here, and connect again.</p>
    <p class="actions">
      <a class="button" href="${only && others.length === 0 ? shopPath(only, '/sources') : '/app'}"
        >${only && others.length === 0 ? 'Go to Sources' : 'Go to your shops'}</a
      >
    </p>
  `;
  return page(
    layout({ ...visit, page: undefined }, { title: `${title} is not connected`, content }),
    422,
  );
}
