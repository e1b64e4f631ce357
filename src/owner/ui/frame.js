// What pages do without this script as well, only less handily.
const menus = [...document.querySelectorAll('details.menu')];

// Menus close by Escape, which goes back to what opened them, and by a click or focus elsewhere.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of menus.filter(({ open }) => open)) {
    const isWithin = menu.contains(document.activeElement);
    menu.open = false;
    if (isWithin) menu.querySelector('summary').focus();
  }
});
for (const happening of ['click', 'focusin']) {
  document.addEventListener(happening, ({ target }) => {
    for (const menu of menus) if (!menu.contains(target)) menu.open = false;
  });
}

// A date lies above the link of its row, so that its own hint shows; clicks on it are the row's.
for (const row of document.querySelectorAll('tr:has(a.row)')) {
  row.addEventListener('click', ({ target }) => {
    if (target.closest('time')) row.querySelector('a.row').click();
  });
}
