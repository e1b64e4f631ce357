import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentStatusOf, statusOf } from '../../../../src/mapping/suggest/meanings.ts';

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

test('takes no subscription for cancelled, expired or paused before it is', () => {
  const expected = {
    'active?':
      'Scheduled for cancellation, Cancellation scheduled, Cancellation pending, Cancelling, Canceling, Will cancel, Pending cancellation, pending_cancel, Cancel at period end, Cancel at end of term, Cancels on 5 May, cancellation_requested, To be terminated, Termination pending, Terminating, Expiring, Expires soon, Will expire, Scheduled to pause, Pause requested, likely to churn, Leaving, Active (cancels 2026-12-31), active_canceled, Not renewing, non_renewing, Will not renew, auto-renew cancelled, Active - pending cancellation, Kündigung vorgemerkt, in Kündigung, Kündigungsfrist, gekündigt zum 31.12., gekündigt per 31.12., Kündigung eingegangen, Résiliation en cours, Résiliation programmée, Cancelación pendiente, Cancelamento agendado, baja solicitada, pendiente de baja, disdetta richiesta',
    active:
      'Not expired, uncancelled, Unexpired, Not cancelled, not yet cancelled, never cancelled, No churn, not inactive, not unsubscribed, not terminated, Not paused, not frozen, not on hold, Non expiré, no vencido, nicht abgelaufen, nicht gekündigt, ungekündigt, niet opgezegd, não cancelado, non disdetto, Active, Reactivated, aktiv',
    cancelled:
      'Cancelled, Canceled, cancel, Cancellation, cancelled_by_customer, cancelled pending refund, Cancelled - requested by customer, non-voluntary churn, non-payment cancellation, churned, unsubscribed, inactive, Not active, no longer active, nicht mehr aktiv, not subscribed, not renewed, gekündigt, résilié, Cancelado, baja, opgezegd, disdetto',
    expired: 'Expired, expired - pending renewal, lapsed, abgelaufen',
    paused: 'Paused, Paused until 1 May, in pausa, en pause, on hold',
    'skip?': 'Not yet active, never activated, never subscribed, not activated',
    unknown: 'Activation pending, Activating, Ending, at risk',
  };
  assert.deepEqual(misread(statusOf, expected), []);
});
