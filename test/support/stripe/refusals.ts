/** A refusal in Stripe's words. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.details = { type: 'invalid_request_error', ...details };
    this.headers = headers;
  }
}

export const missing = (kind: string, id: string, param = 'id'): StripeRefusal =>
  new StripeRefusal(param === 'id' ? 404 : 400, `No such ${kind.replaceAll('_', ' ')}: '${id}'`, {
    code: 'resource_missing',
    param,
  });
