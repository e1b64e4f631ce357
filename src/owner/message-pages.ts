import type { Answer } from '../http/answer.ts';
import { html } from '../http/html.ts';
import { page } from './ui/answers.ts';
import { layout } from './ui/layout.ts';
import type { Visit } from './visit.ts';

const homeLink = html`<a href="/app">Go to your shops</a>`;

/** @param visit for a page with the frame of signed-in owners */
function messagePage(title: string, text: string, status: number, visit?: Visit): Answer {
  return page(
    layout(visit, {
      title,
      content: html`<p>${text}</p>
        <p>${homeLink}</p>`,
    }),
    status,
  );
}

/** For every path below /app that does not exist or that the visitor may not see. */
export function notFoundPage(visit?: Visit): Answer {
  return messagePage(
    'Page not found',
    'This page does not exist, or you do not have access to it.',
    404,
    visit,
  );
}

export function crossSitePage(): Answer {
  return messagePage(
    'Nothing was changed',
    'This form was not sent from a page of this service. Open the page here, then try again.',
    403,
  );
}

export function expiredFormPage(): Answer {
  return messagePage(
    'Nothing was changed',
    'The page with this form has expired, or cookies are disabled. Reload it, then try again.',
    403,
  );
}

export function unreadablePage({ status, headers }: Answer): Answer {
  const answer = messagePage(
    'Nothing was changed',
    'This form could not be read. Reload the page, then try again.',
    status,
  );
  const { connection } = headers;
  return connection === undefined
    ? answer
    : { ...answer, headers: { ...answer.headers, connection } };
}

export function busyPage(): Answer {
  return messagePage(
    'Busy',
    'Too many people are signing in right now. Try again in a minute.',
    503,
  );
}

export function failurePage(requestId: string): Answer {
  const text = `Something failed on our side. Try again. If it keeps happening, send this request ID to the operator of this service: ${requestId}`;
  return messagePage('Something went wrong', text, 500);
}
