import { findByLink } from '../../accounts/links.ts';
import { newSecret } from '../../accounts/secrets.ts';
import type { Route } from '../../http/shell.ts';
import {
  type Unsubscriber,
  endNotifications,
  findNotificationChoice,
  findUnsubscriber,
  upsertNotificationChoice,
} from '../../store/owners/notifications.ts';
import { findShop } from '../../store/shops.ts';
import { redirect } from '../ui/answers.ts';
import { shopPath } from '../ui/layout.ts';
import type { OwnerParts, Pages } from '../pages.ts';
import { type Visit, parseSecret } from '../visit.ts';
import { noChoice, parseForm, textsOf } from './form.ts';
import {
  notificationsPage,
  unknownUnsubscribePage,
  unsubscribePage,
  unsubscribedPage,
} from './pages.ts';
import { lastEnds } from './sender.ts';

const url = '/app/shops/:shopId/notifications';

/** What owners are told by email, and how they end it. */
export function notificationRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const { store, clock, accounts, sendsMail: isSent } = parts;
  const sql = store.write;
  const open = async ({
    params,
    address,
  }: Pick<Visit, 'params' | 'address'>): Promise<Unsubscriber | undefined> => {
    const secret = parseSecret(params['secret']);
    if (secret === undefined) return undefined;
    return findByLink(accounts, address, () => findUnsubscriber(sql, secret));
  };
  return [
    pages.shopPage(url, async (visit) => {
      const { shop, session } = visit;
      const stored = await findNotificationChoice(sql, shop.id, session.ownerId);
      const choice = stored ?? noChoice;
      return notificationsPage(visit, { choice, texts: textsOf(choice, shop), isSent });
    }),
    pages.shopForm(url, async (visit, form) => {
      const { shop, session } = visit;
      const { choice, texts, problem } = parseForm(form, shop);
      if (problem) return notificationsPage(visit, { choice, texts, isSent, problem });
      await upsertNotificationChoice(sql, shop.id, session.ownerId, {
        ...choice,
        unsubscribeSecret: newSecret(),
        since: lastEnds(clock.now()),
      });
      return redirect(shopPath(shop, '/notifications?done=saved'));
    }),
    pages.publicPage('/app/unsubscribe/:secret', async (visit) => {
      const secret = visit.params['secret'] ?? '';
      const found = await open(visit);
      if (!found) return unknownUnsubscribePage(visit);
      const shop = await findShop(store.primary.keys, found.shopId);
      return unsubscribePage(visit, {
        email: found.email,
        shopName: shop?.name ?? 'this shop',
        secret,
      });
    }),
    pages.oneClick('/app/unsubscribe/:secret', async (visit) => {
      const found = await open(visit);
      if (!found) return unknownUnsubscribePage(undefined);
      await endNotifications(sql, found.shopId, found.ownerId);
      return unsubscribedPage(undefined);
    }),
  ];
}
