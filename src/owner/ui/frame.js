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
for (const row of document.querySelectorAll('.rows tbody tr:has(th > a)')) {
  row.addEventListener('click', ({ target }) => {
    if (target.closest('time')) row.querySelector('th > a').click();
  });
}

// Makes the values of a column links to where the heads of their rows lead, with the column's own parameters. Without
// this script, those pages lead there.
for (const column of document.querySelectorAll('th[data-sets]')) {
  // Heads of two rows stand before those of its own.
  const index = column.cellIndex + column.closest('thead').querySelectorAll('[rowspan]').length;
  for (const { cells } of column.closest('table').tBodies[0].rows) {
    const [whole, cell] = [cells[0].querySelector('a'), cells[index]];
    if (!whole || !cell?.hasChildNodes()) continue;
    const link = document.createElement('a');
    link.href = whole.href;
    const query = new URLSearchParams(link.search);
    for (const [name, value] of new URLSearchParams(column.dataset.sets)) query.set(name, value);
    link.search = query;
    link.append(...cell.childNodes);
    cell.append(link);
  }
}

// Leads from the ids of a column to their homes, whose addresses differ by nothing else. Without this script, the
// records' own pages lead there.
for (const head of document.querySelectorAll('th[data-home]')) {
  const { home, at } = head.dataset;
  for (const { cells } of head.closest('table').tBodies[0].rows) {
    const own = cells[head.cellIndex].querySelector('a');
    if (!own) continue;
    const link = document.createElement('a');
    link.href = home.replace('{id}', encodeURIComponent(own.textContent));
    link.target = '_blank';
    link.title = `Open in ${at}`;
    own.after(' ', link);
  }
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
