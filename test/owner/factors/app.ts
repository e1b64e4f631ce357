import assert from 'node:assert/strict';
import { TOTP } from 'otpauth';
import { type Page, Visitor, password } from '../visitor.ts';

const path = '/app/account/factors/app';

/** What an authenticator app shows. @param steps of 30 seconds from then */
export function codeOf(secret: string, now: number, steps = 0): string {
  return new TOTP({ secret }).generate({ timestamp: now + steps * 30_000 });
}

/** Adds an authenticator app to the visitor's account. @param now epoch milliseconds */
export async function addApp(visitor: Visitor, now: number) {
  const shown = await visitor.get(path);
  const [, secret = ''] = /name="secret" value="([A-Z2-7]{32})"/.exec(shown.text) ?? [];
  const [, id = ''] = /name="id" value="([0-9a-f-]{36})"/.exec(shown.text) ?? [];
  const fields = { secret, id, code: codeOf(secret, now) };
  const added = await visitor.post(path, fields);
  assert.ok(added.status === 201 || added.status === 303, added.text);
  return { secret, id, fields, added, codes: recoveryCodesIn(added) };
}

/** The recovery codes that a page shows. */
export function recoveryCodesIn({ text }: Page): string[] {
  return [...text.matchAll(/\b[A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}\b/g)].map(
    ([code]) => code,
  );
}

/** Gives the password, in a new browser, and stops at the second step. */
export async function beginSignIn(baseUrl: string, email: string, from?: string) {
  const visitor = new Visitor(baseUrl, from);
  await visitor.get('/app/sign-in');
  const sent = await visitor.post('/app/sign-in', { email, password });
  assert.equal(sent.location, '/app/sign-in/second-step?next=%2Fapp');
  await visitor.get(sent.location);
  return visitor;
}

export const giveCode = (visitor: Visitor, code: string) =>
  visitor.post('/app/sign-in/second-step', { next: '/app', 'proof-code': code });
