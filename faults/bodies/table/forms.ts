import { randomUUID } from 'node:crypto';
import { newEmail } from '../../../test/owner/visitor.ts';
import { type Body, bodiesOf } from '../body.ts';
import type { Place } from '../place.ts';
import { filled, kibibyte, lineBytes, mebibyte } from '../texts.ts';

/** A form may have 16 KiB; its token is part of it. */
const formBytes = 15 * kibibyte;

interface Form {
  readonly path: string;
  /** Without the token. */
  readonly body: string;
  /** The page with the form; its own by default. */
  readonly page?: string;
}

const signIn = (body: string): Form => ({ path: '/app/sign-in', page: '/app/shops', body });
const fields = (part: string | ((index: number) => string), begin = '') =>
  filled(formBytes, part, { begin, separator: '&' });

const forms: readonly Body[] = bodiesOf<Form>(
  'forms',
  async ({ owner }: Place, { path, page = path, body }) => {
    await owner.get(page);
    const token = `token=${encodeURIComponent(owner.token)}`;
    const type = 'application/x-www-form-urlencoded';
    const { status } = await owner.postBody(path, type, Buffer.from(`${token}&${body}`));
    return status;
  },
  [
    ['64 KiB of fields', [413], () => signIn('a=1&'.repeat(16 * kibibyte))],
    ['a password of 1 MB', [413], () => signIn(`email=a&password=${'x'.repeat(mebibyte)}`)],
    ['thousands of fields', [422], () => signIn(fields((n) => `a${n}`))],
    ['thousands of empty fields', [422], () => signIn(fields(''))],
    ['deep names', [422], () => signIn(`a${'[a]'.repeat(formBytes / 3)}=1`)],
    ['thousands of plus signs', [422], () => signIn(`email=${'+'.repeat(formBytes)}`)],
    ['broken percent signs', [422], () => signIn(`email=${'%'.repeat(formBytes)}`)],
    ['a long e-mail address', [422], () => signIn(`email=${'a'.repeat(formBytes)}&password=x`)],
    [
      'characters that take long to normalise',
      [422],
      () => signIn(`email=${newEmail()}&password=${'%EF%B7%BA'.repeat(formBytes / 9)}`),
    ],
    [
      'a long new password',
      [422],
      ({ shopId }) => ({
        page: `/app/shops/${shopId}`,
        path: '/app/account/password',
        body: `password=x&new-password=${'passwordcorrecthorse'.repeat(formBytes / 20)}`,
      }),
    ],
    [
      'a new password of the longest kind',
      [422],
      ({ shopId }) => ({
        page: `/app/shops/${shopId}`,
        path: '/app/account/password',
        body: `password=x&new-password=${'a1b2'.repeat(50)}`,
      }),
    ],
    [
      'a long name of a key, and a scope again and again',
      [200, 422],
      ({ shopId }) => ({
        page: `/app/shops/${shopId}/keys/new`,
        path: `/app/shops/${shopId}/keys`,
        body: fields('scope=read%3Aplans', `id=${randomUUID()}&name=${'x'.repeat(5_000)}&`),
      }),
    ],
    [
      'a segment of thousands of plans',
      [303],
      ({ shopId }) => ({
        page: `/app/shops/${shopId}`,
        path: `/app/shops/${shopId}/segments`,
        body: filled(formBytes, (n) => `plan%3D${n + 1}`, {
          begin: 'name=a&query=',
          separator: '%26',
        }),
      }),
    ],
    [
      'the console with a long value',
      [200],
      ({ shopId, keyId }) => ({
        page: `/app/shops/${shopId}/developers/console`,
        path: `/app/shops/${shopId}/developers/console`,
        body: `key=${keyId}&operation=list_subscriptions&input.cursor=${'A'.repeat(formBytes - 100)}`,
      }),
    ],
  ],
);

interface Page {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const query = (part: string | ((index: number) => string), begin = '') =>
  filled(lineBytes - 1_000, part, { begin, separator: '&' });

/** Of a shop, below its address, with the statuses for any query. */
const ofShop = (path: string): Body[] =>
  bodiesOf<string>(
    'forms',
    async ({ owner, shopId }, text) => {
      const { status } = await owner.get(`/app/shops/${shopId}${path}?${text}`);
      return status;
    },
    (
      [
        ['', () => ''],
        [' with thousands of parameters', () => query((n) => `a${n}=1`)],
        [' with thousands of plans', () => query((n) => `plan=${n + 1}`)],
        [
          ' with a long value for all',
          () =>
            query(
              'from',
              `q=${'x'.repeat(4_000)}&status=${'x'.repeat(4_000)}&cursor=${'A'.repeat(4_000)}&`,
            ),
        ],
      ] as const
    ).map(([suffix, text]) => [
      `page ${path || '/'}${suffix}`,
      [200, 302, 303, 400, 404, 422],
      text,
    ]),
  );

const pages = [
  '',
  '/charts.csv',
  '/subscriptions',
  '/subscriptions.csv',
  '/subscriptions/1',
  '/payments',
  '/revenue',
  '/revenue/movements',
  '/churn',
  '/churn/left',
  '/cohorts',
  '/recovery',
  '/cancel-flow',
  '/cancel-flow/sessions',
  '/cancel-flow/sessions.csv',
  '/search',
  '/keys',
  '/sources',
  '/developers/requests',
];

const others: readonly Body[] = bodiesOf<Page>(
  'forms',
  async ({ owner }, { path, headers }) => (await owner.get(path, headers)).status,
  [
    [
      'a search for a long text',
      [200],
      ({ shopId }) => ({
        path: `/app/shops/${shopId}/search?q=${'a%20'.repeat(lineBytes / 4 - 200)}`,
      }),
    ],
    [
      'a sign-in that leads far',
      [200, 303],
      () => ({ path: `/app/sign-in?next=${'%2Fapp'.repeat(lineBytes / 6 - 200)}` }),
    ],
    ['a long link', [404], () => ({ path: `/app/links/${'a'.repeat(lineBytes - 1_000)}` })],
    [
      'thousands of cookies',
      [200, 303],
      () => ({ path: '/app/shops', headers: { cookie: 'a=1; '.repeat(lineBytes / 5 - 200) } }),
    ],
    ['the documentation', [200], () => ({ path: '/docs' })],
  ],
);

export const formBodies: readonly Body[] = [...forms, ...pages.flatMap(ofShop), ...others];
