import { changeName, maxPersonName, readPersonName } from '../../accounts/sessions.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { type OwnerPage, type OwnerParts, type OwnerVisit, actorOf, ownerPage } from '../pages.ts';
import { inputField, postForm } from '../ui/fields.ts';
import { redirect } from '../ui/page.ts';
import type { ShowAccount } from './account.ts';

export const personNameProblem = `Use one line of at most ${maxPersonName} characters for the name.`;

/** Where somebody says what they call themselves. */
export function personNameField(value: string | null | undefined, isInvalid: boolean): Html {
  return inputField(
    {
      id: 'name',
      label: 'Name',
      value: value ?? '',
      hint: 'Optional. Your team sees it beside your address.',
      isInvalid,
    },
    html`autocomplete="name" maxlength="${maxPersonName}"`,
  );
}

export function namePages({ accounts }: OwnerParts, show: ShowAccount): readonly OwnerPage[] {
  return [
    ownerPage('/app/account/name', {
      acts: ['name_changed'],
      async submit(visit, form): Promise<Answer> {
        const name = readPersonName(form.get('name') ?? '');
        if (name === undefined) {
          return show(visit, { problem: personNameProblem, invalid: 'name', status: 422 });
        }
        await changeName(accounts, visit.session, actorOf(visit), name);
        return redirect('/app/account?done=name');
      },
    }),
  ];
}

export function nameSection(visit: OwnerVisit, isInvalid: boolean): Html {
  const { email, name } = visit.session;
  return postForm(
    visit,
    '/app/account/name',
    html`<h2>You</h2>
      <p>You sign in as ${email}.</p>
      ${personNameField(name, isInvalid)}
      <button>Save name</button>`,
  );
}
