import { type FoundForm, askBoth, crawl, pageText, pathPattern } from './crawl.ts';
import { owner } from './fill.ts';
import { withoutRandom } from './forms.ts';
import type { Both, Report } from './report.ts';
import { publicUrl } from './version.ts';
import type { Answer, Message, Visitor } from './visitor.ts';

const shop = '/app/shops/101';
const lost =
  '/app/nothing /app/ /app/shops/ /app/shops/999 /app/shops/x /app/account/ /app/links/x /app/unsubscribe/x ' +
  `/app/sign-in /app/sign-in?next=/app/account ${shop}/nothing ${shop}/keys/key_1/revoke ` +
  `${shop}/subscriptions/x ${shop}/subscriptions/999999 ${shop}/subscriptions?cursor=x ${shop}/payments?status=x`;
const views = 'days=7 from=2026-10-01&to=2026-10-31 from=x plan=x price=5 compare=year'.split(' ');
/** Addresses that no link has. */
const unlinked = [
  ...lost.split(' '),
  ...['', '/churn', '/revenue', '/recovery', '/cohorts'].flatMap((page) =>
    views.map((view) => `${shop}${page}?${view}`),
  ),
];

/**
 * The owner's pages, their files, and what visitors see who have not signed in.
 * @returns the forms that change something
 */
export async function comparePages(
  signedIn: Both<Visitor>,
  anonymous: Both<Visitor>,
  report: Report,
): Promise<readonly FoundForm[]> {
  const { opened, forms } = await crawl(signedIn, report, ['/app', ...unlinked]);
  const oneOfEach = new Map(opened.toReversed().map((each) => [pathPattern(each, true), each]));
  for (const address of oneOfEach.values()) {
    await askBoth(signedIn, report, address, 'de-DE');
    await askBoth(anonymous, report, address);
  }
  await compareRefused(signedIn, anonymous, report);
  return forms;
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const own = { ...form, origin: publicUrl };
const refused: Readonly<Record<string, Message>> = {
  'without a token': { headers: own, body: 'name=x' },
  'with a wrong token': { headers: own, body: 'token=x&name=x' },
  'from elsewhere': { headers: { ...form, origin: 'https://elsewhere.test' }, body: 'name=x' },
  'without an origin': { headers: form, body: 'name=x' },
  'as JSON': { headers: { ...own, 'content-type': 'application/json' }, body: '{}' },
  'too long': { headers: own, body: 'x'.repeat(20_000) },
};

/** Forms that are refused before they are read, and signing in. */
async function compareRefused(signedIn: Both<Visitor>, anonymous: Both<Visitor>, report: Report) {
  const compare = (
    asked: string,
    visitors: Both<Visitor>,
    send: (one: Visitor) => Promise<Answer>,
  ) => {
    const question = { kind: 'forms', pattern: asked, asked } as const;
    return report.ask(question, visitors, send, (answer) => withoutRandom(pageText(answer)));
  };
  for (const path of ['/app/sign-in', `${shop}/keys`, `${shop}/nothing`, `${shop}/sources/file`]) {
    for (const [how, message] of Object.entries(refused)) {
      const send = (visitor: Visitor) => visitor.send(path, { method: 'POST', ...message });
      await compare(`${path} ${how}`, signedIn, send);
    }
  }
  for (const password of ['', 'wrong', owner.password]) {
    await compare(`/app/sign-in with "${password}"`, anonymous, async (visitor) => {
      const { body } = await visitor.open('/app/sign-in');
      const [, token = ''] = /name="token" value="([^"]+)"/.exec(body.toString()) ?? [];
      const fields = { token, email: owner.email, password, next: '/app/account' };
      return visitor.submit('/app/sign-in', Object.entries(fields));
    });
  }
}
