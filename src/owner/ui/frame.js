// Improves pages that also work without this script.
const menus = [...document.querySelectorAll('details.menu')];

// Escape closes menus and returns the focus; so does a click or focus elsewhere, without moving it.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of menus.filter(({ open }) => open)) {
    const isWithin = menu.contains(document.activeElement);
    menu.open = false;
    if (isWithin) menu.querySelector('summary').focus();
  }
});
for (const type of ['click', 'focusin']) {
  document.addEventListener(type, ({ target }) => {
    for (const menu of menus) if (!menu.contains(target)) menu.open = false;
  });
}

// Changes the theme on the page as it is, which may be the only one that shows a secret.
document.querySelector('.user form')?.addEventListener('submit', async (event) => {
  const { target, submitter } = event;
  if (submitter?.name !== 'theme') return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(target, submitter));
  await fetch(submitter.formAction, { method: 'POST', body, redirect: 'manual' });
  document.documentElement.dataset.theme = submitter.value;
  for (const each of target.querySelectorAll('[name=theme]'))
    each.ariaPressed = String(each === submitter);
});

// Loads a part of a page in place, which would make each page heavier. Without this script, its link leads there.
document.addEventListener('click', async (event) => {
  const link = event.target.closest('[data-loads]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const response = await fetch(link.href);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const part = page.querySelector(link.dataset.loads);
  if (!part) return location.assign(link.href);
  document.querySelector(link.dataset.loads).replaceWith(part);
  part.querySelector('summary, select').focus();
});
document.addEventListener(
  'toggle',
  ({ target }) => target.open && target.querySelector('.panel > [data-loads]')?.click(),
  true,
);

// The exact time, which each has in UTC.
document.addEventListener('pointerover', ({ target }) => {
  const time = target.closest('time');
  if (time) time.title ||= time.dateTime;
});

// Dates are above their row's link, so that their tooltip shows; this passes clicks on them to the link.
for (const row of document.querySelectorAll('tr:has(a.row)')) {
  row.addEventListener('click', ({ target }) => {
    if (target.closest('time')) row.querySelector('a.row').click();
  });
}

// Pages that show progress load again, unless somebody is about to use what is on them.
if (document.querySelector('[data-refresh]')) {
  let isChanged = false;
  document.addEventListener('change', () => (isChanged = true));
  setInterval(() => {
    if (!isChanged && !document.querySelector('main').contains(document.activeElement))
      location.reload();
  }, 2000);
}

// The answer to a form that shows a secret once: going back to it, or reloading it, opens another page instead of
// sending the form again.
const shownOnce = document.querySelector('[data-address]');
if (shownOnce) history.replaceState(null, '', shownOnce.dataset.address);
