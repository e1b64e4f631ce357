import { createHmac, timingSafeEqual } from 'node:crypto';

interface Asked {
  readonly platform: string;
  readonly shopId: number;
  readonly account: string;
}

/** What the platform sends back with the owner: it proves that the same session asked for the same shop and account. */
export function stateOf(sessionSecret: string, { platform, shopId, account }: Asked): string {
  const proof = createHmac('sha256', sessionSecret)
    .update(JSON.stringify(['connect', platform, shopId, account]))
    .digest('base64url');
  return `${shopId}.${proof}`;
}

/** @returns the shop that the owner asked to connect; undefined if this session did not ask */
export function shopOfState(
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
