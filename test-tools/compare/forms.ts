import { createHash } from 'node:crypto';
import { type FoundForm, fieldsOf, pageText, signatureOf } from './crawl.ts';
import { repeat } from './fill.ts';
import { type Control, type Form, outlineOf } from './outline.ts';
import type { Both, Report } from './report.ts';
import type { Answer, Field, Visitor } from './visitor.ts';

/** How a form is filled in: with nothing, or with something in every field and one of its buttons pressed. */
type Filling = 'empty' | { readonly button: Control | undefined };

/**
 * Sends each form that changes something from the page where it was found, empty and filled in, and then opens the page
 * to which it leads. Both versions end in the same state.
 * @param tick lets time pass, so that what forms create has a time of its own
 */
export async function sendForms(
  visitors: Both<Visitor>,
  report: Report,
  found: readonly FoundForm[],
  tick: () => void,
): Promise<void> {
  const [last, first] = [true, false].map((isLast) =>
    found.filter(({ signature }) => signature.includes('sign-out') === isLast),
  ) as [FoundForm[], FoundForm[]];
  for (const { page, signature } of [...first, ...last]) {
    const { controls } = (await findForm(visitors.old, page, signature)) ?? { controls: [] };
    const buttons = controls.filter(({ tag }) => tag === 'button');
    const pressed = buttons.length === 0 ? [undefined] : buttons;
    for (const filling of ['empty' as const, ...pressed.map((button) => ({ button }))]) {
      tick();
      const how = filling === 'empty' ? 'empty' : `filled in ${filling.button?.choices[0] ?? ''}`;
      const question = { kind: 'forms', pattern: signature, asked: `${page} ${how}` } as const;
      const send = async (visitor: Visitor) => {
        const form = await findForm(visitor, page, signature);
        return form && visitor.submit(form.action, fill(form.controls, filling, question.asked));
      };
      const answer = await report.ask(question, visitors, send, textOf);
      if (answer?.headers.location === undefined) continue;
      await compareNext(visitors, report, { ...question, address: answer.headers.location });
    }
  }
}

/**
 * Compares the pages to which a form leads, without the order of their lines: logs have what happened at the same time
 * in any order. A file may be imported faster by one of the versions.
 */
async function compareNext(
  visitors: Both<Visitor>,
  report: Report,
  { address, ...question }: { kind: 'forms'; pattern: string; asked: string; address: string },
): Promise<void> {
  const open = async () => {
    const answers = [visitors.old.open(address), visitors.new.open(address)];
    const [old = '', next = ''] = (await Promise.all(answers)).map((answer) =>
      textOf(answer).split('\n').toSorted().join('\n'),
    );
    return { old, new: next };
  };
  const answers = await repeat(open, (both) => both.old === both.new);
  report.compare({ ...question, asked: `${question.asked}, then ${address}` }, answers);
}

function textOf(answer: Answer | undefined): string {
  return answer ? withoutRandom(pageText(answer)) : 'The page has no such form.';
}

/** The first form of a page whose signature has a text. */
export async function findForm(
  visitor: Visitor,
  page: string,
  text: string,
): Promise<Form | undefined> {
  const { body } = await visitor.open(page);
  const { forms } = outlineOf(body.toString(), page);
  return forms.find((form) => form.method === 'post' && signatureOf(form).includes(text));
}

const samples: Readonly<Record<string, string>> = {
  date: '2026-11-19',
  email: 'compare@example.com',
  number: '3',
  password: 'not the right one 8',
};

export const sampleFile = 'id,customer,status\n1,2,active\n';

/** @param seed of the ids of what is created: the same in both versions, because lists are in their order */
function fill(controls: readonly Control[], filling: Filling, seed: string): Field[] {
  const digits = createHash('sha256').update(seed).digest('hex');
  const hidden = fieldsOf(controls.filter(({ type }) => type === 'hidden')).map(
    ([name, value]): Field =>
      name === 'id'
        ? [name, value.replace(/[0-9a-f]+$/, (old) => digits.slice(0, old.length))]
        : [name, value],
  );
  if (filling === 'empty') return hidden;
  const radios = new Map<string, string>();
  const others = controls.flatMap((control): Field[] => {
    const { tag, name, type, value, choices } = control;
    if (type === 'hidden' || tag === 'button') return [];
    if (type === 'file') return [[name, sampleFile, 'compare.csv']];
    if (type === 'radio') {
      if (value !== undefined || !radios.has(name)) radios.set(name, choices[0] ?? '');
      return [];
    }
    return [
      [name, value || choices.findLast((each) => each !== '') || (samples[type] ?? 'Compare')],
    ];
  });
  const { button } = filling;
  const pressed: Field[] = button ? [[button.name, button.choices[0] ?? '']] : [];
  return [...hidden, ...others, ...radios, ...pressed];
}

const random = [
  /(?<=rtn_)[\w-]{43}/g,
  /(?<=whsec_)[\w+/=-]+/g,
  /(?<=\b(?:key|src)_)[0-9a-f]{16,24}/g,
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
  /(?<![\w-])[\w-]{43}(?![\w-])/g,
  // The end of a new key, and how long an answer took.
  /(?<=…)[\w-]{4}\b/g,
  /\b\d+(?:\.\d+)?(?= ms\b)/g,
];

/** A text without new secrets, ids and durations. */
export function withoutRandom(text: string): string {
  return random.reduce((rest, pattern) => rest.replaceAll(pattern, '…'), text);
}
