import type { UploadView } from '../../../push/upload/uploads.ts';
import type { Answer } from '../../../http/answer.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ShopVisit } from '../../pages.ts';
import { page } from '../../ui/answers.ts';
import { layout, shopPath, token } from '../../ui/layout.ts';

export const uploadPath = ({ shop }: Pick<ShopVisit, 'shop'>, rest = '') =>
  shopPath(shop, `/sources/file${rest}`);

interface UploadPage {
  readonly title: string;
  readonly content: Html;
  readonly status?: number;
}

/** A page about the upload of a shop. */
export function uploadPage(visit: ShopVisit, { title, content, status = 200 }: UploadPage): Answer {
  return page(layout(visit, { title, content }), status);
}

export function removeForm(
  visit: ShopVisit,
  { uploadId }: UploadView,
  label = 'Remove file',
): Html {
  return html`<form method="post" action="${uploadPath(visit, '/cancel')}">
    ${token(visit)}
    <input type="hidden" name="upload" value="${uploadId}" />
    <button class="plain">${label}</button>
  </form>`;
}
