// Says what the rates of cohorts are of.
for (const row of document.querySelectorAll('tr[data-values]')) {
  const [, size, ...months] = row.cells;
  for (const [since, value] of row.dataset.values.split('|').entries()) {
    months[since].title = `${value} of ${size.textContent}`;
  }
}
