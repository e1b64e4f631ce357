import { CommandError } from '../../errors.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { isObject, parseJson } from '../../json.ts';
import { connectShop, startShop } from '../../platforms/connect.ts';
import { namesOf } from '../../platforms/keeper.ts';
import { platforms } from '../../platforms/registry.ts';
import type {
  ConnectForm,
  ConnectedShop,
  Credentials,
  Platform,
  SourcePart,
} from '../../platforms/platform.ts';
import { JobEnded } from '../../push/upload/jobs/run-job.ts';
import { withoutComments } from '../../mapping/read.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf } from '../pages.ts';
import { recordPage } from '../record-page.ts';
import { shopPath } from '../site.ts';
import { actions, inputField, postForm, textField } from '../ui/fields.ts';
import { backTo, page } from '../ui/page.ts';
import {
  type CheckedDraft,
  type Rivals,
  type Obstacle,
  checkPage,
  isTakenOver,
  lacksPrices,
  readRivals,
  takeOver,
  takeOverPart,
  untickedPrices,
  untickedTakeOver,
  withoutPrices,
} from './check.ts';
import { type FailedAttempt, type Source, type Sources, isDraft } from './sources.ts';

const base = '/sources/:platform';
const maxFormBytes = 256 * 1024;

type Pasted = Source & { readonly platform: Platform & { readonly form: ConnectForm } };

/** What is wrong with what was pasted, by the name of the field. */
type Problems = Readonly<Record<string, string>>;

/** The pages where owners connect a platform by pasting what lets us in. */
export function formPages(parts: OwnerParts, sources: Sources): OwnerPage[] {
  const { store, clock, log } = parts;
  const sql = store.write;

  /** Undefined for a platform that is not connected so, or not by the owner. */
  const find = async ({ shop, params }: ShopVisit): Promise<Pasted | undefined> => {
    const source = await sources.find(shop.id, params['platform']);
    const isOperated = source?.state === 'connected' && source.origin === 'file';
    return source?.platform.form && source.state !== 'off' && !isOperated
      ? (source as Pasted)
      : undefined;
  };
  /** What is stored; undefined if nothing is, or it can no longer be read. */
  const readStored = async ({ shop }: ShopVisit, platform: Platform) => {
    const { shops } = await sources.open(platform);
    const connected = await shops.find(sql, shop.id);
    const credentials = await connected?.credentials.read().catch((error: unknown) => {
      if (error instanceof CommandError) return undefined;
      throw error;
    });
    return connected && credentials && { connected, credentials };
  };
  const partsOf = async (platform: Platform, credentials: Credentials) =>
    (await (await sources.open(platform)).code.partsOf?.(credentials)) ?? [];
  const rivalsOf = ({ shop }: ShopVisit, platform: Platform, all: readonly SourcePart[]) =>
    readRivals(sql, shop.id, platform, all);

  /** What a source has, for what was not pasted. */
  const suggest = async ({ shop }: ShopVisit, { name, title }: Platform, given: Credentials) => {
    const { sourceNetworks = [] } = parts.platforms;
    try {
      return await parts.uploads.suggestSource(shop, { platform: name, given, sourceNetworks });
    } catch (error) {
      if (!(error instanceof JobEnded)) throw error;
      return { problem: `${title} took too long to look at. Give the streams yourself.` };
    }
  };
  const showForm = async (
    visit: ShopVisit,
    source: Pasted,
    problems: Problems = {},
    json?: string,
  ) => {
    const { platform } = source;
    const stored = await readStored(visit, platform);
    const isFirst = isNew(source);
    const known = platform.form.isPreviewed ? [] : await partsOf(platform, { shop: visit.shop.id });
    const rivals = isFirst ? await rivalsOf(visit, platform, known) : undefined;
    return formPage(visit, { source, problems, json, stored: stored?.credentials, rivals });
  };
  const showCheck = async (visit: ShopVisit, source: Pasted, problem?: Obstacle) => {
    const { platform } = source;
    const stored = await readStored(visit, platform);
    if (!stored || !isDraft(source)) return backTo(visit, '/sources');
    const { connected, credentials } = stored;
    const all = await partsOf(platform, credentials);
    const rivals = await rivalsOf(visit, platform, all);
    const rehearsal = parts.uploads.rehearseSync(visit.shop, {
      platform: platform.name,
      account: connected.account,
      baseUrl: connected.baseUrl,
      version: connected.version,
      credentials,
      sourceNetworks: parts.platforms.sourceNetworks ?? [],
    });
    return checkPage(visit, { platform, connected, parts: all, rivals, rehearsal, problem });
  };

  return [
    recordPage(`${base}/form`, find, {
      right: 'integration',
      acts: ['platform_connected'],
      stepUp: 'open',
      secrets,
      parent: '/sources',
      maxFormBytes,
      show: (visit, source) => showForm(visit, source),
      async submit(visit, source, form) {
        const { shop } = visit;
        const { platform } = source;
        const { name } = platform;
        const stored = await readStored(visit, platform);
        const { given, problems, json } = await readForm(platform, form, stored);
        const { code } = await sources.open(platform);
        const [first] = platform.form.fields;
        const needed = platform.form.fields.filter(
          (field) => given[field.name] === undefined && !(field.isJson && code.suggest),
        );
        for (const field of needed) problems[field.name] ??= 'This is needed.';
        if (Object.keys(problems).length > 0) return showForm(visit, source, problems, json);

        const pasted = { ...given, shop: shop.id };
        const isWhole = platform.form.fields.every((field) => field.name in pasted);
        const found = isWhole ? undefined : await suggest(visit, platform, pasted);
        const refuse = ({ reason, text, field = first?.name ?? '' }: FailedAttempt) => {
          log.warn({ shop: shop.id, platform: name, reason }, 'shop not connected');
          const suggested = found && 'texts' in found ? found.texts[field] : undefined;
          return showForm(visit, source, { [field]: text }, suggested ?? json);
        };
        if (found && 'problem' in found) {
          return refuse({ reason: found.problem, text: found.problem });
        }
        const credentials = { ...pasted, ...found?.fields };
        const isFirst = isNew(source);
        const isPreviewed = isFirst && platform.form.isPreviewed === true;
        const takesOver = isTakenOver(form);
        if (isFirst && !isPreviewed) {
          const known = await partsOf(platform, credentials);
          const rivals = await rivalsOf(visit, platform, known);
          const problem = whyNotYet(platform, rivals, takesOver, 'cancel')?.text;
          if (problem !== undefined) return showForm(visit, source, { [takeOver]: problem }, json);
        }
        const failed = await sources.attempt(platform, actorOf(visit), async (connecting) => {
          const [title, notes] = [found?.preset?.title, found?.notes];
          const draft = isPreviewed ? JSON.stringify({ title, notes }) : undefined;
          const options = { takesOver, draft };
          await connectShop(connecting, shop, credentials, options);
        });
        if (failed) return refuse(failed);
        log.info({ shop: shop.id, platform: name }, 'shop connected');
        const done = isFirst ? 'connected' : 'replaced';
        return isPreviewed
          ? backTo(visit, `/sources/${name}/check`)
          : backTo(visit, '/sources', done);
      },
    }),
    recordPage(`${base}/check`, find, {
      right: 'integration',
      acts: ['platform_connected'],
      stepUp: 'open',
      parent: '/sources',
      show: (visit, source) => showCheck(visit, source),
      async submit(visit, source, form) {
        const { shop } = visit;
        const { platform } = source;
        const stored = await readStored(visit, platform);
        if (!stored || !isDraft(source)) return backTo(visit, '/sources');
        // What is started must be what was seen.
        if (form.get('version') !== stored.connected.version) return showCheck(visit, source);
        const takesOver = isTakenOver(form);
        const all = await partsOf(platform, stored.credentials);
        const rivals = await rivalsOf(visit, platform, all);
        const problem = whyNotYet(platform, rivals, takesOver, 'choose “Remove”');
        if (problem !== undefined) return showCheck(visit, source, problem);
        if (lacksPrices(all, form)) {
          return showCheck(visit, source, { box: withoutPrices, text: untickedPrices });
        }
        await startShop(sql, shop.id, platform, { at: new Date(clock.now()), takesOver });
        log.info({ shop: shop.id, platform: platform.name, takesOver }, 'sync started by owner');
        return backTo(visit, '/sources', 'connected');
      },
    }),
  ];
}

/** Why a source cannot be started yet. @param otherwise what else can be done */
function whyNotYet(
  own: Platform,
  { foreign, keepers: [keeper] }: Rivals,
  takesOver: boolean,
  otherwise: string,
): Obstacle | undefined {
  if (keeper) {
    const { platform, types } = keeper;
    return {
      text: `Disconnect ${platform.title} first: it brings the ${namesOf(types)} of this shop.`,
    };
  }
  if (foreign.length === 0 || takesOver) return undefined;
  return { box: takeOver, text: untickedTakeOver(own, otherwise) };
}

const isNew = (source: Source) => source.state === 'free' || isDraft(source);

/**
 * What was pasted, with what is stored of the fields that were left empty. What was suggested and stands unchanged is
 * suggested again: it may be of another source by now.
 */
async function readForm(
  { form: { fields }, credentialFields }: Pasted['platform'],
  form: URLSearchParams,
  before: { readonly connected: ConnectedShop; readonly credentials: Credentials } | undefined,
) {
  const stored = before?.credentials;
  const draft = JSON.parse(before?.connected.draft ?? '{}') as CheckedDraft;
  const isSuggested = draft.notes !== undefined;
  const given: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  let json: string | undefined;
  for (const { name, label, isSecret, isJson } of fields) {
    const text = (form.get(inputOf(name)) ?? '').trim();
    if (isJson) json = text;
    if (text === '' && isSecret && stored) given[name] = stored[name];
    if (text === '') continue;
    const value = isJson ? readJson(text, name) : text;
    if (isJson && isSuggested && JSON.stringify(value) === JSON.stringify(stored?.[name])) continue;
    const { expected, fits, problemsOf } = credentialFields[name] ?? {};
    if (value === undefined) problems[name] = 'This is not JSON.';
    else if (!fits?.(value)) problems[name] = `This must be ${expected}.`;
    else given[name] = value;
    const [within] = name in given ? ((await problemsOf?.(value)) ?? []) : [];
    if (within !== undefined) problems[name] = `${label}${within}.`;
  }
  return { given, problems, json };
}

/** Every form has a `token` already, which proves where it is from. */
const inputOf = (name: string) => (name === 'token' ? 'api-token' : name);

/** The fields with credentials, of all platforms. */
const secrets = platforms
  .flatMap(({ form }) => form?.fields ?? [])
  .filter(({ isSecret }) => isSecret)
  .map(({ name }) => inputOf(name));

/** A field's value, also from a file that has all of them. @returns undefined if it is not JSON */
function readJson(text: string, name: string): unknown {
  const value = parseJson(withoutComments(text));
  return isObject(value) && name in value ? value[name] : value;
}

interface Form {
  readonly source: Pasted;
  readonly problems: Problems;
  /** What was given as JSON. */
  readonly json: string | undefined;
  readonly stored: Credentials | undefined;
  /** Undefined if the shop was connected before. */
  readonly rivals: Rivals | undefined;
}

function formPage(visit: ShopVisit, { source, problems, json, stored, rivals }: Form): Answer {
  const { platform } = source;
  const { name, title, form } = platform;
  const isReplaced = !isNew(source);
  const fieldOf = (field: ConnectForm['fields'][number]): Html => {
    const { name: key, label, hint, isSecret, isJson } = field;
    const id = `${name}-${key}`;
    const text = problems[key];
    const isKept = isSecret && stored !== undefined;
    const labelled = {
      id,
      name: inputOf(key),
      label,
      hint: isKept ? `${hint} Left empty, it stays the one that is stored.` : hint,
      isInvalid: text !== undefined,
      problem: `${id}-problem`,
    };
    const problem = text && html`<p class="alert" role="alert" id="${id}-problem">${text}</p>`;
    if (isJson) {
      const known = stored?.[key] === undefined ? '' : JSON.stringify(stored[key], null, 2);
      return html`<details ${text === undefined ? undefined : html`open`}>
        <summary>For your developer</summary>
        ${problem} ${textField({ ...labelled, value: json ?? known })}
      </details>`;
    }
    // Not a password of the owner's, which a browser would keep.
    const kind = isSecret ? html`type="password" autocomplete="off"` : html`type="text"`;
    return html`${problem}
    ${inputField(labelled, html`${kind} spellcheck="false" ${isKept ? undefined : html`required`}`)}`;
  };
  // The alert may be about a platform to disconnect instead.
  const isUnticked = problems[takeOver] !== undefined && rivals?.keepers.length === 0;
  const action = isReplaced ? `Replace ${form.secretName}` : `Check ${form.secretName}`;
  const content = html`${
    isReplaced
      ? html`<p>
          The data that is here stays. Everything is read again, and what is the same changes
          nothing.
        </p>`
      : html`<p>${form.about}</p>
          <ol>
            ${form.steps.map((step) => html`<li>${step}</li>`)}
          </ol>`
  }
  ${postForm(
    visit,
    shopPath(visit.shop, `/sources/${name}/form`),
    html`${form.fields.map(fieldOf)} ${rivals && takeOverPart(platform, rivals, isUnticked)}
    ${actions(
      html`<button>${form.isPreviewed || isReplaced ? action : `Connect ${title}`}</button>`,
      shopPath(visit.shop, '/sources'),
    )}`,
  )} `;
  const status = Object.keys(problems).length > 0 ? 422 : 200;
  const heading = isReplaced ? `${action} of ${title}` : `Connect ${title}`;
  return page(visit, { title: heading, content, problem: problems[takeOver], status });
}
