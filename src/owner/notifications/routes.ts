import { findByLink } from '../../accounts/links.ts';
import { newSecret } from '../../accounts/secrets.ts';
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
import { type OwnerPage, type OwnerParts, publicPage, shopPage } from '../pages.ts';
import { type Visit, parseSecret } from '../visit.ts';
import { noChoice, parseForm, textsOf } from './form.ts';
import {
  notificationsPage,
  unknownUnsubscribePage,
  unsubscribePage,
  unsubscribedPage,
} from './pages.ts';
import { lastEnds } from './sender.ts';

const url = '/notifications';

/** What owners are told by email, and how they end it. */
export function notificationPages(parts: OwnerParts): OwnerPage[] {
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
    shopPage(url, {
      label: 'Email',
      hint: 'Digests and alerts',
      parent: '/app/account',
      async show(visit) {
        const { shop, session } = visit;
        const stored = await findNotificationChoice(sql, shop.id, session.ownerId);
        const choice = stored ?? noChoice;
        return notificationsPage(visit, { choice, texts: textsOf(choice, shop), isSent });
      },
      async submit(visit, form) {
        const { shop, session } = visit;
        const { choice, texts, problem } = parseForm(form, shop);
        if (problem) return notificationsPage(visit, { choice, texts, isSent, problem });
        await upsertNotificationChoice(sql, shop.id, session.ownerId, {
          ...choice,
          unsubscribeSecret: newSecret(),
          since: lastEnds(clock.now()),
        });
        return redirect(shopPath(shop, '/notifications?done=saved'));
      },
    }),
    publicPage('/app/unsubscribe/:secret', {
      async show(visit) {
        const secret = visit.params['secret'] ?? '';
        const found = await open(visit);
        if (!found) return unknownUnsubscribePage(visit);
        const shop = await findShop(store.primary.keys, found.shopId);
        return unsubscribePage(visit, {
          email: found.email,
          shopName: shop?.name ?? 'this shop',
          secret,
        });
      },
      async oneClick(visit) {
        const found = await open(visit);
        if (!found) return unknownUnsubscribePage(undefined);
        await endNotifications(sql, found.shopId, found.ownerId);
        return unsubscribedPage(undefined);
      },
    }),
  ];
}
