import { createHmac, timingSafeEqual } from 'node:crypto';
import { may } from '../../accounts/rights.ts';
import { connectShop, disconnectShop } from '../../platforms/connect.ts';
import type { Platform } from '../../platforms/platform.ts';
import { findPlatform } from '../../platforms/registry.ts';
import { hastenSync } from '../../store/feeds/platforms.ts';
import { notFoundPage } from '../message-pages.ts';
import {
  type OwnerPage,
  type OwnerParts,
  type OwnerVisit,
  type ShopVisit,
  actorOf,
  ownerPage,
  shopPage,
} from '../pages.ts';
import { backTo, page, redirect } from '../ui/page.ts';
import { customerLinkPages } from './customer-link.ts';
import { formPages } from './form.ts';
import { type Problem, sourcesPage } from './page.ts';
import { pushPages } from './push.ts';
import { uploadPages } from './upload/routes.ts';
import { type Source, type Sources, isDraft } from './sources.ts';
import { html } from '../../http/html.ts';
import type { Answer } from '../../http/answer.ts';
import { recordPage } from '../record-page.ts';
import { actions, postForm } from '../ui/fields.ts';
import { shopPath } from '../site.ts';

const base = '/sources';

/** The pages where owners connect their shop to platforms. */
export function sourcePages(parts: OwnerParts, sources: Sources): OwnerPage[] {
  const { store, clock, log, platforms: config } = parts;
  const sql = store.write;

  const show = (visit: ShopVisit, problem?: Problem) => sourcesPage(parts, sources, visit, problem);
  const find = ({ shop, params }: ShopVisit) => sources.find(shop.id, params['platform']);
  const baseUrlOf = ({ name }: Platform) => config.platforms[name]?.baseUrl;

  return [
    shopPage(base, {
      right: 'integration',
      label: 'Sources',
      navigation: { group: 'Data', icon: 'sources' },
      show: (visit) => show(visit),
    }),
    ...uploadPages(parts),
    ...pushPages(parts),
    ...customerLinkPages(parts),
    ...formPages(parts, sources),

    recordPage(`${base}/:platform/connect`, find, {
      right: 'integration',
      stepUp: 'open',
      parent: '/sources',
      async show(visit, source) {
        const { shop, session, query } = visit;
        const { platform, authorization } = source;
        const app = sources.appOf(platform);
        const given = query.get('account');
        if (!authorization || !app || given === null) return backTo(visit, base);
        const account = authorization.parseAccount(given);
        const connected = source.state === 'connected' ? source : undefined;
        if (connected && (connected.origin === 'file' || connected.account !== account)) {
          return backTo(visit, base);
        }
        if (account === undefined) {
          const text = authorization.accountProblem;
          return show(visit, { platform: platform.name, text, given });
        }
        const asked = { platform: platform.name, shopId: shop.id, account };
        const address = authorization.addressOf({
          account,
          baseUrl: baseUrlOf(platform),
          app,
          redirectUri: parts.baseUrl() + callbackPath(platform.name),
          state: stateOf(session.secret, asked),
        });
        // What we will read, before the owner agrees at the platform.
        const content = html`<section class="card">
          <p>
            ${platform.title} will ask you to let this service read from
            <strong>${account}</strong>:
          </p>
          <ul>
            ${authorization.scopes.map((scope) => html`<li>${scope}</li>`)}
          </ul>
          <p>Nothing is changed there. You can disconnect at any time.</p>
          ${actions(
            html`<a class="button" href="${address}">Continue to ${platform.title}</a>`,
            shopPath(shop, '/sources'),
          )}
        </section>`;
        return page(visit, { title: `Connect ${platform.title}`, content });
      },
    }),

    // Where the platform sends the owner back to; the address is registered there, so it names no shop.
    ownerPage(callbackPath(':platform'), {
      acts: ['platform_connected'],
      section: '/sources',
      async show(visit) {
        const platform = findPlatform(visit.params['platform'] ?? '');
        const authorization = platform && (await platform.load()).authorization;
        if (!platform || !authorization || !sources.appOf(platform)) return notFoundPage(visit);
        const { name } = platform;
        const [, query = ''] = visit.request.url.split('?', 2);
        const answer = authorization.readAnswer(
          query,
          config.platforms[name]?.webhookSecrets ?? [],
        );
        const asked = { platform: name, account: answer?.account ?? '' };
        const shopId = answer && shopOfState(visit.session.secret, answer.state, asked);
        const shop = visit.shops.find(({ id, role }) => id === shopId && may(role, 'integration'));
        if (!answer || !shop) {
          const reason = answer
            ? 'the owner did not ask for it in this session'
            : 'it is not signed with the client secret';
          log.warn({ platform: name, reason }, 'authorization refused');
          return notConnectedPage(visit, platform);
        }

        const { account } = answer;
        const fields = { shop: shop.id, platform: name, account };
        const before = await sources.find(shop.id, name);
        const known = before?.state === 'connected' ? before : undefined;
        if (known?.origin === 'file') {
          log.warn({ ...fields, reason: 'the operator has connected it' }, 'shop not connected');
          return backTo({ shop }, base);
        }
        const isOther = known !== undefined && known.account !== account;
        const problem = isOther
          ? {
              reason: `it is connected to ${known.account}`,
              text: `This shop is connected to ${known.account}. Disconnect it first.`,
            }
          : await sources.attempt(platform, actorOf(visit), async (connecting) => {
              const { baseUrl, context } = connecting;
              const granted = { ...answer, shop: shop.id, baseUrl };
              await connectShop(connecting, shop, await authorization.exchange(granted, context));
            });
        if (!problem) {
          log.info(fields, 'shop connected');
          return backTo({ shop }, base, 'connected');
        }
        log.warn({ ...fields, reason: problem.reason }, 'shop not connected');
        // As when the owner goes back and forward: the code was used.
        const isWorking = known?.status.kind !== 'failing' && known?.status.kind !== 'ended';
        if (known && !isOther && isWorking) return backTo({ shop }, base);
        return show({ ...visit, shop }, { platform: name, text: problem.text, given: account });
      },
    }),

    recordPage(`${base}/:platform/retry`, find, {
      right: 'integration',
      acts: [],
      parent: '/sources',
      async submit({ shop }, { platform: { name } }) {
        await hastenSync(sql, shop.id, name, new Date(clock.now()));
        return redirect(shopPath(shop, `/sources#${name}`));
      },
    }),

    recordPage(`${base}/:platform/disconnect`, find, {
      right: 'integration',
      acts: ['platform_disconnected'],
      stepUp: 'open',
      parent: '/sources',
      show: (visit, source) =>
        source.state === 'connected' && source.origin === 'database'
          ? disconnectPage(visit, source)
          : backTo(visit, base),
      async submit(visit, source) {
        const { shop } = visit;
        const { platform } = source;
        const account = await disconnectShop(sql, shop.id, platform, {
          at: new Date(clock.now()),
          by: actorOf(visit),
        });
        if (account === undefined) return backTo(visit, base);
        log.info({ shop: shop.id, platform: platform.name, account }, 'shop disconnected');
        const done = isDraft(source) ? 'removed' : 'disconnected';
        return backTo(visit, base, done);
      },
    }),
  ];
}

function callbackPath(platform: string): `/app/${string}` {
  return `/app/connected/${platform}`;
}

type Asked = Readonly<{ platform: string; shopId: number; account: string }>;

/** What the platform sends back with the owner: it proves that the same session asked for the same shop and account. */
function stateOf(sessionSecret: string, { platform, shopId, account }: Asked): string {
  const proof = createHmac('sha256', sessionSecret)
    .update(JSON.stringify(['connect', platform, shopId, account]))
    .digest('base64url');
  return `${shopId}.${proof}`;
}

/** @returns the shop that the owner asked to connect; undefined if this session did not ask */
function shopOfState(
  sessionSecret: string,
  state: string,
  asked: Omit<Asked, 'shopId'>,
): number | undefined {
  const shopId = Number(/^(\d{1,16})\./.exec(state)?.[1] ?? 0);
  const expected = Buffer.from(stateOf(sessionSecret, { ...asked, shopId }));
  const actual = Buffer.from(state);
  const isSame = expected.length === actual.length && timingSafeEqual(expected, actual);
  return isSame ? shopId : undefined;
}

function disconnectPage(visit: ShopVisit, source: Source & { state: 'connected' }): Answer {
  const { platform, authorization, account } = source;
  const { name, title, form } = platform;
  const sources = shopPath(visit.shop, '/sources');
  const secret = form?.secretName ?? 'access';
  const action = isDraft(source) ? `Remove ${secret}` : `Disconnect ${title}`;
  const consequences = isDraft(source)
    ? html`<p>
        Nothing was read from <strong>${account}</strong> into this shop yet. We delete the
        ${secret} that you gave for ${title}; no data changes.
      </p>`
    : html`<p>
          Changes at <strong>${account}</strong> no longer arrive from now on. The data that is here
          stays, and you can connect again. It belongs to no platform from then on: files, pushes
          and other sources may change it.
        </p>
        <p class="quiet">
          We delete our access.
          ${
            authorization
              ? `To remove the app from ${title} as well, uninstall it there.`
              : `Delete the ${secret} at ${title} as well, if nothing else uses it.`
          }
        </p>`;
  return page(visit, {
    title: `${action}?`,
    content: postForm(
      visit,
      `${sources}/${name}/disconnect`,
      html`${consequences}
      ${actions(
        html`<button class="danger">${action}</button>`,
        sources,
        isDraft(source) ? 'Keep it' : 'Stay connected',
      )}`,
    ),
  });
}

/** For an answer that the platform did not sign, or that this session did not ask for. */
function notConnectedPage(visit: OwnerVisit, { title }: Platform): Answer {
  const [only, ...others] = visit.shops;
  const problem =
    'The answer could not be verified: it is incomplete, or you started in another browser or before you signed in again.';
  const content = html`
    <p>Nothing was changed. Open Sources here, and connect again.</p>
    <p class="actions">
      <a class="button" href="${only && others.length === 0 ? shopPath(only, '/sources') : '/app'}"
        >${only && others.length === 0 ? 'Go to Sources' : 'Go to your shops'}</a
      >
    </p>
  `;
  return page(
    { ...visit, page: undefined },
    { title: `${title} is not connected`, content, problem },
  );
}
