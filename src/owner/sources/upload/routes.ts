import type { Examination } from '../../../push/upload/jobs/examine.ts';
import type { Refusal } from '../../../push/upload/receive.ts';
import { type UploadView, isActive } from '../../../push/upload/uploads.ts';
import { listKeepers } from '../../../platforms/keeper.ts';
import { countUndated } from '../../../store/records/sightings.ts';
import { expiredFormPage, notFoundPage } from '../../message-pages.ts';
import { noteExport } from '../../framework/page.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf, shopPage } from '../../pages.ts';
import { backTo, redirect } from '../../ui/page.ts';
import { formatBytes } from '../../ui/formats.ts';
import {
  choosePage,
  uploadPath,
  hasEnded,
  progressPage,
  refusedFile,
  resultPage,
} from './stages.ts';
import { readColumns } from './columns.ts';
import { previewPage } from './preview.ts';
import { isoDay, parseDay } from '../../view/view.ts';

const base = '/sources/file';
const gone =
  'The file is no longer on this server: it was removed after an hour, or the server was replaced. Choose it again.';

/** Why a file is not taken, and the status. */
const refusals: Readonly<
  Record<
    Exclude<Refusal['kind'], 'foreign' | 'tooLarge' | 'unwritable'>,
    readonly [problem: string, status: number]
  >
> = {
  missing: ['Choose a file first.', 422],
  empty: ['The file is empty. Choose one with at least one line.', 422],
  broken: ['The file did not arrive whole. Upload it again.', 400],
  tooSlow: [
    'The file arrived too slowly: less than 1 kB a second. Compress it with gzip, or use a faster connection.',
    400,
  ],
  replaced: ['Another file was uploaded for this shop meanwhile.', 409],
  importing: ['Another file of this shop is being imported. Try again when it is done.', 409],
  ownersLimit: [
    'Two files of your other shops are being uploaded. Try again when one of them is done.',
    409,
  ],
  serversLimit: ['Many files are being uploaded. Try again in a few minutes.', 409],
};

const show = (visit: ShopVisit) => redirect(uploadPath(visit));

/** The pages where owners upload a file, check what it would give, and import it. */
export function uploadPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, log, uploads } = parts;
  const { maxBytes } = uploads;
  const choose = (visit: ShopVisit, problem?: string, status = 422) =>
    choosePage(visit, maxBytes, problem, problem === undefined ? 200 : status);

  /** The upload that a form is about; undefined if it was replaced meanwhile. */
  const findOf = async ({ shop }: ShopVisit, form: URLSearchParams) => {
    const upload = await uploads.find(shop.id);
    return upload?.uploadId === form.get('upload') ? upload : undefined;
  };
  const preview = async (
    visit: ShopVisit,
    upload: UploadView,
    remarks: { readonly problem?: string; readonly notice?: string } = {},
  ) => {
    const looked = await uploads.look(visit.shop, upload);
    if (!looked) return choose(visit, gone);
    const { examined, upload: seen } = looked;
    if (!('preview' in examined)) {
      await uploads.cancel(upload);
      return choose(visit, examined.problem);
    }
    const keepers = await listKeepers(store.write, visit.shop.id);
    const rehearsal =
      'problem' in examined.preview
        ? ({ kind: 'none' } as const)
        : await uploads.rehearse(visit.shop, seen);
    const now = clock.now();
    return previewPage(visit, { upload: seen, examined, keepers, rehearsal, now, ...remarks });
  };

  return [
    shopPage(base, {
      right: 'integration',
      acts: ['file_uploaded'],
      parent: '/sources',
      async show(visit) {
        const upload = await uploads.find(visit.shop.id);
        if (!upload) return choose(visit);
        if (isActive(upload)) return progressPage(visit, upload);
        if (hasEnded(upload)) {
          return resultPage(visit, upload, await countUndated(store.write, visit.shop.id));
        }
        return preview(visit, upload);
      },
      async receive(visit, isToken) {
        const { shop, session, request } = visit;
        const owner = { ownerId: session.ownerId, by: actorOf(visit) };
        const received = await uploads.receive(shop, owner, request.raw, isToken);
        const { kind } = received;
        if (kind === 'received') return show(visit);
        if (kind === 'foreign') return expiredFormPage();
        if (kind === 'tooLarge') {
          const problem = `The file is larger than ${formatBytes(visit, maxBytes)}. Split it, or compress it with gzip.`;
          return choose(visit, problem, 413);
        }
        if (kind !== 'unwritable') return choose(visit, ...refusals[kind]);
        log.error({ shop: shop.id, err: received.error }, 'uploaded file not stored');
        const reason = received.isFull
          ? 'The disk of the server is full, so the file could not be stored.'
          : 'The server could not store the file.';
        return choose(visit, `${reason} Tell the operator of this service, then try again.`, 507);
      },
    }),
    shopPage(`${base}/new`, {
      right: 'integration',
      label: 'Import a file',
      parent: '/sources',
      async show(visit) {
        const upload = await uploads.find(visit.shop.id);
        return upload && isActive(upload) ? show(visit) : choose(visit);
      },
    }),
    shopPage(`${base}/answers`, {
      right: 'integration',
      acts: ['import_started'],
      parent: '/sources',
      async submit(visit, form) {
        const upload = await findOf(visit, form);
        if (upload?.state !== 'waiting') return show(visit);
        const examined = await uploads.examine(visit.shop, upload);
        if (!examined || !('preview' in examined)) return show(visit);
        const day = parseDay(form.get('as-of') ?? '');
        const asOf = day !== undefined && day <= clock.now() ? day : undefined;
        const given = [...form]
          .filter(([name]) => name.startsWith('q:'))
          .map(([name, value]) => [name.slice(2), value] as const);
        const columns = readColumns(examined.views, form);
        if (columns.twice !== undefined) {
          const problem = `Two columns are chosen for ${columns.twice}. Choose one.`;
          return preview(visit, upload, { problem });
        }
        const isOther = isCorrected(examined, given) || columns.answers.size > 0;
        const questions = new Map([...upload.answers.questions, ...given, ...columns.answers]);
        // Saying which columns are those of subscriptions says that there are some.
        if (columns.answers.size > 0 && questions.get('kind') === 'none') questions.delete('kind');
        const answers = {
          questions: [...questions],
          asOf,
          takesOver: form.get('take-over') === 'yes',
          isCorrected: upload.answers.isCorrected || isOther,
          isRemembered: upload.answers.isRemembered && !isOther,
        };
        if (examined.needsAsOf && asOf === undefined) {
          const problem =
            'Give the day on which the file was exported; it cannot be in the future.';
          return preview(visit, upload, { problem });
        }
        if (!(await uploads.answer(upload, answers))) return show(visit);
        const answered = { ...upload, answers };
        if (form.get('action') !== 'import') return show(visit);
        // What is imported must have been seen.
        if (isOther || isDateChanged(examined, upload, answered, clock.now())) {
          const notice = 'You changed an answer. Check the preview, then import.';
          return preview(visit, answered, { notice });
        }
        await uploads.start(visit.shop, actorOf(visit), answered, examined);
        return show(visit);
      },
    }),
    shopPage(`${base}/forget`, {
      right: 'integration',
      acts: [],
      async submit(visit, form) {
        const upload = await findOf(visit, form);
        const examined = upload && (await uploads.examine(visit.shop, upload));
        if (upload && examined && 'preview' in examined) await uploads.forget(upload, examined);
        return show(visit);
      },
    }),
    shopPage(`${base}/continue`, {
      right: 'integration',
      acts: ['import_started'],
      async submit(visit, form) {
        const upload = await findOf(visit, form);
        if (upload?.hasFile && hasEnded(upload)) {
          await uploads.start(visit.shop, actorOf(visit), upload);
        }
        return show(visit);
      },
    }),
    shopPage(`${base}/cancel`, {
      right: 'integration',
      acts: [],
      async submit(visit, form) {
        const upload = await findOf(visit, form);
        if (!upload) return show(visit);
        await uploads.cancel(upload);
        return upload.state === 'waiting' ? backTo(visit, '/sources', 'file-removed') : show(visit);
      },
    }),
    shopPage(`${base}/refused.csv`, {
      right: 'integration',
      acts: ['rows_exported'],
      stepUp: 'open',
      async show(visit) {
        const upload = await uploads.find(visit.shop.id);
        if (!upload || !hasEnded(upload)) return notFoundPage(visit);
        await noteExport(parts, visit, 'refused rows');
        return refusedFile(upload);
      },
    }),
  ];
}

/** Whether answers are others than were guessed, so that the preview is another one than the owner has seen. */
function isCorrected(
  { questions }: Examination,
  answers: readonly (readonly [string, string])[],
): boolean {
  const given = new Map(answers);
  return questions.some(({ id, chosen }) => (given.get(id) ?? chosen) !== chosen);
}

function isDateChanged(
  { needsAsOf }: Examination,
  seen: UploadView,
  { answers }: UploadView,
  now: number,
): boolean {
  return needsAsOf && answers.asOf !== (seen.answers.asOf ?? Date.parse(isoDay(now)));
}
