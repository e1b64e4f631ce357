import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentStatusOf } from '../../../../src/mapping/suggest/meanings.ts';

/** Texts that have another meaning than expected; `?` marks what is asked. */
function misread(
  meaningOf: (text: string) => { status: string; isUnsure: boolean } | undefined,
  expected: Readonly<Record<string, string>>,
) {
  return Object.entries(expected).flatMap(([meaning, list]) =>
    list.split(', ').flatMap((text) => {
      const found = meaningOf(text);
      const read = found ? `${found.status}${found.isUnsure ? '?' : ''}` : 'unknown';
      return read === meaning ? [] : [`${text}: ${read}, not ${meaning}`];
    }),
  );
}

test('takes no payment for paid that is denied, partial or still to come', () => {
  const expected = {
    succeeded:
      'Paid, paid_out, SUCCESS, Succeeded, Successful, Complete, payment_completed, Captured, Settled, Approved, Processed, Paid late, pago, Pagado, pagata, Pagamento aprovado, aprobada, Payé, payée, réglée, bezahlt, betaald, cobrado, ok',
    failed: 'not_paid, Unsuccessful, Disapproved, desaprobado, Reprovado, Capture failed',
    pending: 'unpaid, Approval pending, requires_capture, Settlement pending, authorised',
    'pending?':
      'Not approved, Not completed, Not captured, payment not complete, Nicht bezahlt, non payé, pas payé, niet betaald, no aprobado, não aprovado, never paid, to be paid, Awaiting capture, Awaiting approval, Incomplete, Uncaptured, Unsettled, Unprocessed, unbezahlt, onbetaald, prepaid',
    'succeeded?':
      'Partially paid, partially_captured, Partiellement payée, teilweise bezahlt, Posted',
    unknown:
      'à payer, à régler, submitted_for_settlement, approval required, aguardando aprovação, Pagamento em análise, Pago en proceso',
  };
  assert.deepEqual(misread(paymentStatusOf, expected), []);
});
