import type { Answer, AnswerBody } from '../http/answer.ts';
import { notFoundPage } from './message-pages.ts';
import { type OwnerPage, type ShopVisit, shopPage } from './pages.ts';

type Handled = Answer<AnswerBody> | Promise<Answer<AnswerBody>>;

/** A page of the shop about the record that its path names; 404 if there is no such record. */
export function recordPage<Found>(
  path: string,
  find: (visit: ShopVisit) => Promise<Found | undefined>,
  {
    show,
    submit,
    ...entry
  }: Omit<Parameters<typeof shopPage>[1], 'show' | 'submit'> & {
    readonly show?: (visit: ShopVisit, found: Found) => Handled;
    readonly submit?: (visit: ShopVisit, found: Found, form: URLSearchParams) => Handled;
  },
): OwnerPage {
  const having =
    <Rest extends unknown[]>(handle: (visit: ShopVisit, found: Found, ...rest: Rest) => Handled) =>
    async (visit: ShopVisit, ...rest: Rest) => {
      const found = await find(visit);
      return found === undefined ? notFoundPage(visit) : handle(visit, found, ...rest);
    };
  return shopPage(path, {
    ...entry,
    ...(show && { show: having(show) }),
    ...(submit && { submit: having(submit) }),
  });
}
