import { createHash } from 'node:crypto';

export interface Control {
  readonly tag: string;
  readonly name: string;
  readonly type: string;
  /** What is sent if nothing is changed; undefined for what is not checked. */
  readonly value: string | undefined;
  /** The values that can be chosen. */
  readonly choices: readonly string[];
}

export interface Form {
  readonly method: string;
  readonly action: string;
  readonly controls: Control[];
}

interface Outline {
  /** Texts, links, forms and drawings in the order of the page, one element a line. */
  readonly text: string;
  readonly links: readonly string[];
  readonly forms: readonly Form[];
}

type Attributes = ReadonlyMap<string, string>;

/** Elements that do not begin a line. */
const inline = new Set(
  'a abbr b bdi bdo code em i kbd mark small span strong sub sup time'.split(' '),
);
const ofForms = new Set('form input select option textarea button label'.split(' '));
/** Attributes of forms that only concern how they look and how they are filled in. */
const unseen = /^(?:class|id|for|data-.*|auto.*|inputmode|aria-(?:describedby|invalid|current))$/;
/** Attributes of anything that people see or hear. */
const spoken = new Set('aria-label title alt placeholder datetime data-label'.split(' '));
const token = /<!.*?>|<(\/?)([a-z][\w-]*)((?:"[^"]*"|'[^']*'|[^>"'])*)>|[^<]+/gs;

/**
 * What a page says and offers, without how it looks.
 * @param address of the page, to which forms without an action are sent
 */
export function outlineOf(markup: string, address = ''): Outline {
  const plain = markup
    .replaceAll(/<(style|script)\b.*?<\/\1>/gs, '')
    .replaceAll(/<svg\b.*?<\/svg>/gs, drawing);
  const links: string[] = [];
  const forms: Form[] = [];
  let form: Form | undefined;
  let text = '';
  for (const [whole, slash, tag, rest = ''] of plain.matchAll(token)) {
    if (tag === undefined) {
      if (!whole.startsWith('<!')) text += decode(whole);
      continue;
    }
    const attributes = attributesOf(rest);
    const shown = slash === '/' ? '' : lineOf(tag, attributes);
    text += inline.has(tag) ? shown : `\n${shown}\n`;
    if (slash === '/') {
      if (tag === 'form') form = undefined;
    } else if (tag === 'a') {
      links.push(attributes.get('href') ?? '');
    } else if (tag === 'form') {
      const [method = 'get', action = address] = ['method', 'action'].map((name) =>
        attributes.get(name),
      );
      form = { method, action, controls: [] };
      forms.push(form);
    } else if (form) {
      addControl(form.controls, tag, attributes);
    }
  }
  const lines = text.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return { text: lines.filter((line) => line !== '').join('\n'), links, forms };
}

function addControl(controls: Control[], tag: string, attributes: Attributes): void {
  const [name, value] = [attributes.get('name'), attributes.get('value')];
  const last = controls.at(-1);
  if (tag === 'option' && last?.tag === 'select') {
    // The first option is sent if none is selected.
    const sent = attributes.has('selected') ? value : (last.value ?? value);
    controls.splice(-1, 1, { ...last, value: sent, choices: [...last.choices, value ?? ''] });
  }
  if (name === undefined || !ofForms.has(tag)) return;
  const type = tag === 'input' ? (attributes.get('type') ?? 'text') : tag;
  const isChoice = type === 'checkbox' || type === 'radio';
  const isSent = tag !== 'select' && (!isChoice || attributes.has('checked'));
  const text = value ?? (isChoice ? 'on' : '');
  const choices = isChoice || tag === 'button' ? [text] : [];
  controls.push({ tag, name, type, value: isSent ? text : undefined, choices });
}

function lineOf(tag: string, attributes: Attributes): string {
  if (tag === 'drawing') return `[drawing ${attributes.get('hash')}]`;
  // Different in each page: the token of a form, and the id that it proposes for what it creates.
  const isRandom = /^(?:token|id)$/.test(attributes.get('name') ?? '');
  const isHidden = attributes.get('type') === 'hidden';
  const isForm = ofForms.has(tag);
  const shown = [...attributes]
    .filter(
      ([name]) =>
        spoken.has(name) || `${tag} ${name}` === 'a href' || (isForm && !unseen.test(name)),
    )
    .map(([name, value]) => `${name}=${name === 'value' && isHidden && isRandom ? '…' : value}`);
  return isForm || shown.length > 0 ? `[${[tag, ...shown.toSorted()].join(' ')}] ` : '';
}

/** A drawing by its texts and a hash of its geometry. */
function drawing(svg: string): string {
  const geometry = svg.match(/\b(?:d|points|x\d?|y\d?|cx|cy|r|width|height|transform)="[^"]*"/g);
  const hash = createHash('sha256').update(String(geometry)).digest('hex').slice(0, 8);
  return `<drawing hash="${hash}">${svg.replaceAll(/<[^>]*>/g, ' ')}</drawing>`;
}

function attributesOf(text: string): Attributes {
  const found = text.matchAll(/([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/g);
  return new Map([...found].map(([, name = '', one, other]) => [name, decode(one ?? other ?? '')]));
}

const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };

function decode(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|amp|#39);/g, (_, name: string) => characters[name] ?? '');
}
