import { createHmac, randomUUID } from 'node:crypto';
import { secret } from '../../../test/webhooks/world.ts';
import { type Body, bodiesOf, cut } from '../body.ts';
import { type HttpRequest, sendHttp } from '../send.ts';
import { arrayOf, filled, kibibyte, nested } from '../texts.ts';

const bytes = 256 * kibibyte;

interface Webhook {
  readonly body: NonNullable<HttpRequest['body']>;
  /** A change of a subscription by default. */
  readonly topic?: string;
  /** Not the service's where it is to be refused. */
  readonly signedWith?: string;
}

const members = (part: string | ((index: number) => string), begin = '{') =>
  filled(bytes, part, { begin, end: '}', separator: ',' });
const shopRedact = '{"shop_id":1,"shop_domain":"a.myshopify.com",';
const customerRedact =
  '{"shop_id":1,"shop_domain":"a.myshopify.com","customer":{"id":1},"orders_to_redact":[';

/** Whatever it says: another answer makes Shopify repeat it. */
const accepted = [200];
const refused = [401, 413, 503, cut];

export const webhookBodies: readonly Body[] = bodiesOf<Webhook>(
  'webhook',
  async ({ baseUrl, domain }, { body, topic, signedWith = secret }) => {
    const whole = typeof body === 'string' || Buffer.isBuffer(body) ? body : body.join('');
    const { status } = await sendHttp(baseUrl, {
      path: '/webhooks/shopify',
      method: 'POST',
      headers: [
        'content-type',
        'application/json',
        'x-shopify-topic',
        topic ?? 'subscription_contracts/update',
        'x-shopify-shop-domain',
        domain,
        'x-shopify-event-id',
        randomUUID(),
        'x-shopify-hmac-sha256',
        createHmac('sha256', signedWith).update(whole).digest('base64'),
      ],
      body,
    });
    return status;
  },
  [
    ['an ordinary one', accepted, () => ({ body: '{"id":1}' })],
    ['lines of x', accepted, () => ({ body: 'x\n'.repeat(bytes / 2) })],
    ['an array of numbers', accepted, () => ({ body: arrayOf(bytes, '1') })],
    ['an array of empty objects', accepted, () => ({ body: arrayOf(bytes, '{}') })],
    ['nested arrays', accepted, () => ({ body: nested(bytes, '[', ']') })],
    [
      'nested objects',
      accepted,
      () => ({ body: nested(bytes - 1, '{"a":', '}').replace('}', '0}') }),
    ],
    ['opening brackets', accepted, () => ({ body: nested(bytes, '[') })],
    [
      'members of the subscription',
      accepted,
      () => ({ body: members((n) => `"a${n}":1`, '{"id":1,') }),
    ],
    ['an id of 256 KiB', accepted, () => ({ body: `{"id":"${'9'.repeat(bytes - 20)}"}` })],
    ['a number of 256 KiB as id', accepted, () => ({ body: `{"id":${'9'.repeat(bytes - 20)}}` })],
    ['bytes that are not UTF-8', accepted, () => ({ body: Buffer.alloc(bytes, 0xff) })],
    [
      'members of shop/redact',
      accepted,
      () => ({ topic: 'shop/redact', body: members((n) => `"a${n}":1`, shopRedact) }),
    ],
    [
      'orders of customers/redact',
      accepted,
      () => ({
        topic: 'customers/redact',
        body: filled(bytes, '1', { begin: customerRedact, end: ']}', separator: ',' }),
      }),
    ],
    [
      'orders of customers/redact that are none',
      accepted,
      () => ({
        topic: 'customers/redact',
        body: filled(bytes, '{}', { begin: customerRedact, end: ']}', separator: ',' }),
      }),
    ],
    [
      'members of app/uninstalled',
      accepted,
      () => ({ topic: 'app/uninstalled', body: members((n) => `"a${n}":1`) }),
    ],
    ['a byte too many', refused, () => ({ body: 'x'.repeat(bytes + 1) })],
    ['a wrong signature', [401], () => ({ body: 'x'.repeat(bytes), signedWith: 'another secret' })],
    ['chunks of one byte', [200, 503], () => ({ body: Array<string>(10_000).fill(' ') })],
    [
      'chunks of one byte with a wrong signature',
      refused,
      () => ({ body: Array<string>(32_704).fill('x'), signedWith: 'another secret' }),
    ],
  ],
);
